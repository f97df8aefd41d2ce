import CGtk
import Composer
import ComposerSessions
import GtkTestSupport
import XCTest

@testable import ComposerGtk
@testable import GtkKit

/// Typing over a selection with real keys, which GtkTextView does in two user actions.
final class OverwritingTests: GtkTestCase {
    func testTypingOverASelectionIsOneStep() throws {
        try onMain {
            let bench = try HostBench()
            try RealInput.type("one two")
            XCTAssertTrue(bench.waits(for: "one two"))
            try RealInput.press("shift+ctrl+Left")
            XCTAssertTrue(MainLoop.pump { bench.state.selection == TextRange(location: 4, length: 3) })
            try RealInput.type("2")
            XCTAssertTrue(bench.waits(for: "one 2"))
            try RealInput.press("ctrl+z")
            XCTAssertTrue(bench.waits(for: "one two"), bench.displayedText)
            bench.close()
        }
    }

    func testTypingOverTheEndOfAMentionLeavesTheRestOfIt() throws {
        try onMain {
            let bench = try HostBench()
            let text = "Anna Smith hello"
            let anna = Mention(.member("@anna:b"), text: "Anna Smith")
            bench.session.handle(.load(WrittenText(text, mentioning: [anna])))
            XCTAssertTrue(bench.waits(for: text))
            let start = (text as NSString).range(of: "Smith").location
            bench.session.handle(.select(TextRange(location: start, length: text.utf16.count - start)))
            try RealInput.type("x")
            XCTAssertTrue(MainLoop.pump { bench.displayedText.hasSuffix("x") && bench.displayedText == bench.bar.text })
            XCTAssertEqual(bench.bar.text, (text as NSString).substring(to: start) + "x")
            bench.close()
        }
    }

    func testDeletingASelectionIsNoReplacement() throws {
        try onMain {
            let bench = try HostBench()
            try RealInput.type("one two")
            XCTAssertTrue(bench.waits(for: "one two"))
            try RealInput.press("shift+ctrl+Left")
            XCTAssertTrue(MainLoop.pump { bench.state.selection.length == 3 })
            gtk_text_buffer_delete_selection(gtk_text_view_get_buffer(bench.text.cast()), 1, 1)
            XCTAssertTrue(bench.waits(for: "one "))
            try RealInput.type("2")
            XCTAssertTrue(bench.waits(for: "one 2"))
            bench.close()
        }
    }
}
