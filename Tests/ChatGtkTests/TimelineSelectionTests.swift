import CGtk
import ChatCore
import ChatViewModels
import Composer
import GtkKit
import GtkTestSupport
import LocalBackend
import XCTest

@testable import ChatGtk

/// Selecting several messages, with real key and pointer events.
final class TimelineSelectionTests: GtkTestCase {
    func testMessagesAreSelectedByKeyboardAndPointerAndCopied() throws {
        try onMain {
            let bench = try ConversationBench(30)
            XCTAssertFalse(bench.view.selectionBar.widget.isRevealed)
            bench.timeline.grabFocus()
            try bench.press("space", "Up", "space")
            XCTAssertTrue(bench.wait { bench.model.state.selection.count == 2 })
            XCTAssertTrue(bench.wait { bench.view.selectionBar.widget.isRevealed })
            XCTAssertTrue(bench.row(29)?.widget.hasStyle("marked") ?? false)
            try bench.press("space")
            XCTAssertTrue(bench.wait { bench.model.state.selection.count == 1 }, "once more takes it out")
            bench.waitUntilIdle()
            try bench.input(["mousemove"] + bench.point(27) + ["click", "1"])
            XCTAssertTrue(bench.wait { bench.model.state.selection.count == 2 }, "a click marks, too")
            try bench.press("ctrl+c")
            XCTAssertTrue(bench.wait { bench.model.state.selection.count == 0 })
            XCTAssertEqual(
                try bench.clipboardText(), "Alex: \(ConversationBench.text(27))\nRobin: \(ConversationBench.text(29))")
            for id in ["m27", "m29"] { bench.model.send(.selection(.toggle(MessageID(id)))) }
            bench.timeline.grabFocus()
            try bench.press("Escape")
            XCTAssertTrue(bench.wait { bench.model.state.selection.count == 0 })
            XCTAssertFalse(bench.view.composerHasFocus, "one layer a press")
            try bench.close()
        }
    }

    func testOnlyOwnMessagesAreDeletedAndDeletedOnesAreDeselected() throws {
        try onMain {
            let bench = try ConversationBench(30)
            bench.model.send(.selection(.toggle(MessageID("m28"))))
            XCTAssertFalse(bench.model.state.selection.canDelete, "others' words are theirs")
            bench.model.send(.selection(.toggle(MessageID("m28"))))
            for id in ["m26", "m29"] { bench.model.send(.selection(.toggle(MessageID(id)))) }
            XCTAssertTrue(bench.model.state.selection.canDelete)
            try finish { [backend = bench.fixture.backend] in
                try await backend.delete(MessageID("m26"), in: ConversationBench.room)
            }
            XCTAssertTrue(bench.wait { bench.model.state.selection.count == 1 })
            bench.model.send(.selection(.delete))
            XCTAssertTrue(bench.wait { bench.row(29)?.item?.isDeleted == true })
            XCTAssertEqual(bench.model.state.selection.count, 0)
            XCTAssertEqual(bench.row(28)?.item?.isDeleted, false)
            try bench.close()
        }
    }
}
