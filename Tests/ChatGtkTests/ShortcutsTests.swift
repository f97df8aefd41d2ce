import ChatViewModels
import Composer
import Foundation
import GtkTestSupport
import XCTest

/// SLK-47: the shortcuts window lists the composer's key table.
final class ShortcutsTests: XCTestCase {
    func testShortcutsWindowListsEveryComposerShortcut() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../resources/ui/help-overlay.ui")
        let text = try String(contentsOf: file, encoding: .utf8)
        let shown = Set(
            text.matches(of: /accelerator">([^<]+)</).flatMap { $0.output.1.split(separator: " ") }
                .map { $0.lowercased() })
        XCTAssertGreaterThan(shown.count, 25)
        let listed = KeyTable.standard(for: ComposerConfiguration()).listed
        XCTAssertGreaterThan(listed.count, 15)
        for binding in listed {
            XCTAssertTrue(shown.contains(Self.accelerator(binding.chord)), "\(binding.chord) is not in the window")
        }
    }

    private static func accelerator(_ chord: KeyChord) -> String {
        let names: [(KeyChord.Modifiers, String)] = [
            (.control, "&lt;control&gt;"), (.alt, "&lt;alt&gt;"), (.shift, "&lt;shift&gt;"),
        ]
        let key = chord.key == "\\" ? "backslash" : chord.key
        return names.filter { chord.modifiers.contains($0.0) }.map(\.1).joined() + key.lowercased()
    }
}
