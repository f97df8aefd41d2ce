import CGtk
import Composer
import ComposerSessions
import GtkKit
import GtkTestSupport
import XCTest

@testable import ComposerGtk
@testable import GtkKit

/// Suggestions while an input method composes.
final class ComposingCompletionTests: GtkTestCase {
    /// What is being composed would be committed behind the mention otherwise.
    func testClickedSuggestionReplacesThePreedit() throws {
        try onMain {
            let bench = try HostBench(width: 700)
            bench.session.completionSources = [NameSource("@", ["Ann", "Bob"])]
            let popup = try XCTUnwrap(bench.bar.binding?.completion)
            // GTK's built-in input method: Ctrl+Shift+U enters a code point.
            bench.text.setProperty("im-module", "gtk-im-context-simple")
            try RealInput.type("@")
            XCTAssertTrue(MainLoop.pump { popup.isOpen })
            try RealInput.press("ctrl+shift+u", "4", "1")
            XCTAssertTrue(MainLoop.pump { bench.state.preedit.hasSuffix("41") }, bench.state.preedit)
            try bench.click(try XCTUnwrap(popup.row(at: 0)))
            XCTAssertTrue(bench.waits(for: "@Ann "), bench.displayedText)
            XCTAssertEqual(bench.state.preedit, "")
            try RealInput.type("x")
            XCTAssertTrue(bench.waits(for: "@Ann x"), bench.displayedText)
            bench.close()
        }
    }
}
