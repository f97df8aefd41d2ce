import CGtk
import ChatViewModels
import Composer
import GtkTestSupport
import ToolSupport
import XCTest

@testable import ChatGtk
@testable import GtkKit

/// The text buffer as a projection of the document.
final class EditorViewTests: GtkTestCase {
    func testTypedTextReachesTheDocument() throws {
        try onMain {
            let bench = try ComposerBench()
            bench.type("Hé")
            bench.type("👨‍👩‍👧!")
            XCTAssertEqual(bench.displayedText, "Hé👨‍👩‍👧!")
            XCTAssertEqual(bench.viewModel.document.text, bench.displayedText)
            XCTAssertEqual(bench.selection.0, bench.displayedText.unicodeScalars.count)
            bench.emit("backspace")
            bench.emit("backspace")
            XCTAssertEqual(bench.displayedText, "Hé", "a family is one character")
            try bench.close()
        }
    }

    func testReplacingASelectionIsOneUndoStep() throws {
        try onMain {
            let bench = try ComposerBench()
            bench.type("one two three")
            bench.select(4, 7)
            bench.type("2")
            XCTAssertEqual(bench.displayedText, "one 2 three")
            XCTAssertEqual(bench.selection.0, 5)
            bench.viewModel.handle(.undo)
            XCTAssertEqual(bench.displayedText, "one two three")
            try bench.close()
        }
    }

    func testDeletingASelectionUpdatesTheDocument() throws {
        try onMain {
            let bench = try ComposerBench()
            bench.type("one two three")
            bench.select(3, 7)
            gtk_text_buffer_delete_selection(bench.buffer, 1, 1)
            // An insertion that replaces it may follow.
            XCTAssertTrue(MainLoop.pump { bench.displayedText == "one three" })
            XCTAssertEqual(bench.viewModel.document.text, "one three")
            try bench.close()
        }
    }

    func testCaretMovesReachTheDocument() throws {
        try onMain {
            let bench = try ComposerBench()
            bench.type("a👍b")
            bench.select(2, 2)
            XCTAssertEqual(bench.viewModel.state.composer.selection, .caret(3), "UTF-16 units")
            bench.type("x")
            XCTAssertEqual(bench.displayedText, "a👍xb")
            try bench.close()
        }
    }

    /// Edits from either side leave buffer and document with the same text and selection.
    func testRandomEditsKeepBufferAndDocumentInSync() throws {
        try onMain {
            let bench = try ComposerBench()
            var random = SeededGenerator(seed: 7)
            let fragments = ["a", "é", "👍🏽", "\n", " ", "مرحبا", "e\u{301}", "漢字", "**", "- x\n"]
            for step in 0..<600 {
                let length = bench.displayedText.unicodeScalars.count
                switch Int.random(in: 0..<9, using: &random) {
                case 0...3: bench.type(fragments[Int.random(in: 0..<fragments.count, using: &random)])
                case 4:
                    let (a, b) = (
                        Int.random(in: 0..<(length + 1), using: &random),
                        Int.random(in: 0..<(length + 1), using: &random)
                    )
                    bench.select(min(a, b), max(a, b))
                case 5: bench.emit("backspace")
                case 6: bench.viewModel.handle(.undo)
                case 7: bench.viewModel.handle(.redo)
                default:
                    bench.viewModel.handle(
                        .insert(fragments[Int.random(in: 0..<fragments.count, using: &random)], origin: .paste))
                }
                let document = bench.viewModel.document
                guard bench.displayedText == document.text else { return XCTFail("step \(step): texts differ") }
                let selection = bench.viewModel.state.composer.selection
                XCTAssertEqual(bench.selection.0, document.scalarOffset(ofUTF16: selection.location), "step \(step)")
                XCTAssertEqual(bench.selection.1, document.scalarOffset(ofUTF16: selection.end), "step \(step)")
            }
            try bench.close()
        }
    }

    func testEditorGrowsToItsLimitAndShrinksBack() throws {
        try onMain {
            let bench = try ComposerBench(height: 700)
            let one = bench.height(after: 1)
            let three = bench.height(after: 3)
            let limit = bench.height(after: bench.viewModel.state.composer.maxLines)
            let beyond = bench.height(after: 20)
            XCTAssertGreaterThan(three, one)
            XCTAssertGreaterThan(limit, three)
            XCTAssertEqual(Double(beyond), Double(limit), accuracy: 1, "SLK-4: no taller than its lines")
            XCTAssertEqual(bench.height(after: 1), one)
            try bench.close()
        }
    }

    func testEditorGrowsAtOnceWhenALineWraps() throws {
        try onMain {
            let bench = try ComposerBench(height: 700)
            let line = bench.height(after: 2) - bench.height(after: 1)
            bench.viewModel.handle(.load(WrittenText("")))
            let adjustment = Adjustment(
                borrowing: UnsafeMutableRawPointer(gtk_scrollable_get_vadjustment(bench.textView.cast())))
            for _ in 0..<13 {
                bench.type("wrapped words ")
                _ = bench.waitUntilIdle()
                XCTAssertEqual(adjustment.value, 0, "nothing is scrolled away below the limit")
                XCTAssertEqual(adjustment.pageSize, adjustment.upper)
            }
            XCTAssertGreaterThan(bench.textView.height, 3 * line, "it did wrap")
            try bench.close()
        }
    }

    func testCaretStaysInViewWhenTheEditorGrows() throws {
        try onMain {
            let bench = try ComposerBench(height: 700)
            let text = (1...8).map { "line \($0)" }.joined(separator: "\n")
            bench.viewModel.send(.composer(.startEdit(id: "m", WrittenText(text))))
            let adjustment = Adjustment(
                borrowing: UnsafeMutableRawPointer(gtk_scrollable_get_vadjustment(bench.textView.cast())))
            _ = bench.waitUntilIdle()
            XCTAssertEqual(
                adjustment.value, adjustment.upper - adjustment.pageSize, accuracy: 1, "the caret is in the last line")
            try bench.close()
        }
    }
}
