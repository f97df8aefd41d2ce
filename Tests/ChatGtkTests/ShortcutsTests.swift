import CGtk
import ChatViewModels
import Composer
import Foundation
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import GtkKit

/// SLK-47: the shortcuts window lists the composer's key table.
final class ShortcutsTests: GtkTestCase {
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

    /// The send key chosen in the preferences determines what Return does.
    func testShortcutsWindowShowsTheSendKeyAsSet() throws {
        try onMain {
            try Resource.load()
            let parent = TestWindow(Label())
            for (key, send, line) in [
                (SendKey.return, "Return <Control>Return", "<Shift>Return"),
                (.ctrlReturn, "<Control>Return", "Return <Shift>Return"),
            ] {
                let shortcuts = RoomPresenter(over: parent.window)
                shortcuts.showShortcuts(sendKey: key)
                let window = try XCTUnwrap(
                    Widget.windows.first { shim_is_a($0.pointer, gtk_shortcuts_window_get_type()) != 0 })
                let lines = window.descendants.filter { shim_is_a($0.pointer, gtk_shortcuts_shortcut_get_type()) != 0 }
                @MainActor func keys(_ title: String) -> Set<String> {
                    Set(lines.filter { $0.text("title") == title }.map { $0.text("accelerator") })
                }
                XCTAssertEqual(keys("Send"), [send], "in its section and in the search")
                XCTAssertEqual(keys("New Line"), [line])
                window.withPointer { gtk_window_destroy($0) }
            }
            parent.close()
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
