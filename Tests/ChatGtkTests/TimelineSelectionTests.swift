import CGtk
import ChatCore
import ChatStore
import ChatViewModels
import Composer
import Foundation
import GtkKit
import GtkTestSupport
import LocalBackend
import TimelineGtk
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

    /// Neither what responds to clicks itself, such as a spoiler, nor a button, such as a quote, a picture or a card.
    func testClicksThatSelectMessagesOpenNothingInThem() throws {
        try onMain {
            let fixture = try ConversationBench.makeRoom(30, unread: 0)
            try finish { [store = fixture.store] in
                _ = try await store.append(
                    NewMessage(
                        id: MessageID("m30"), sender: ConversationBench.own, text: "secret words behind a cover",
                        sentAt: Date(timeIntervalSince1970: 1_768_000_000),
                        formattedText: "<span data-mx-spoiler>secret words behind a cover</span>"),
                    to: ConversationBench.room)
            }
            let bench = try ConversationBench(in: fixture)
            try bench.activate()
            let texts = try XCTUnwrap(bench.row(30)).widget.descendants.compactMap { BodyText.of($0) }
            let spoiler = try XCTUnwrap(texts.first)
            let quote = try XCTUnwrap(bench.row(29)?.widget.descendants.first { $0.hasStyle("message-quote") })
            bench.model.send(.selection(.toggle(MessageID("m28"))))
            XCTAssertTrue(bench.wait { bench.view.selectionBar.widget.isRevealed })
            try RealInput.point(at: quote)
            try RealInput.click()
            XCTAssertTrue(bench.wait { bench.model.state.selection.count == 2 })
            bench.waitUntilIdle()
            XCTAssertTrue(bench.list.isAtEnd, "it did not jump to what is quoted")
            // Each click is at another place, so that none is the second one of a double click.
            try RealInput.point(at: spoiler.widget, x: 10, y: 6)
            try RealInput.click()
            XCTAssertTrue(bench.wait { bench.model.state.selection.count == 3 })
            bench.waitUntilIdle()
            XCTAssertTrue(spoiler.isCovered(0))
            for id in ["m28", "m29"] { bench.model.send(.selection(.toggle(MessageID(id)))) }
            try RealInput.point(at: spoiler.widget, x: 60, y: 6)
            try RealInput.click()
            XCTAssertTrue(bench.wait { bench.model.state.selection.isEmpty })
            bench.waitUntilIdle()
            XCTAssertTrue(spoiler.isCovered(0), "when the click was made, the message was selected")
            try RealInput.point(at: spoiler.widget, x: 110, y: 6)
            try RealInput.click()
            XCTAssertTrue(bench.wait { !spoiler.isCovered(0) }, "without selected messages a click reveals it")
            try bench.close()
        }
    }

    /// The selected message is deleted on another device, say.
    func testFocusGoesToTheComposerWhenTheBarGoesAway() throws {
        try onMain {
            let bench = try ConversationBench(30)
            try bench.activate()
            bench.model.send(.selection(.toggle(MessageID("m29"))))
            let bar = bench.view.selectionBar.widget
            let forward = { bar.descendants.first { $0.isMapped && $0.tooltip == "Forward" } }
            XCTAssertTrue(bench.wait { bar.isRevealed && forward() != nil })
            XCTAssertEqual(forward()?.grabFocus(), true)
            XCTAssertFalse(bench.view.composerHasFocus)
            try finish { [backend = bench.fixture.backend] in
                try await backend.delete(MessageID("m29"), in: ConversationBench.room)
            }
            XCTAssertTrue(bench.wait { !bar.isRevealed })
            XCTAssertTrue(bench.wait { bench.view.composerHasFocus })
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
