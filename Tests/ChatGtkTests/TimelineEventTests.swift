import CGtk
import ChatCore
import ChatStore
import Foundation
import GtkKit
import GtkTestSupport
import LocalBackend
import XCTest

@testable import ChatGtk
@testable import ChatViewModels
@testable import TimelineGtk

/// State events among the messages of a room.
final class TimelineEventTests: GtkTestCase {
    func testEventGroupExpandsByClickAndKeyboard() throws {
        try onMain {
            let bench = try ConversationBench(3)
            try finish { [backend = bench.fixture.backend] in
                try await backend.setTopic("First", of: ConversationBench.room)
                try await backend.renameRoom(ConversationBench.room, to: "Short")
                try await backend.setTopic("Second", of: ConversationBench.room)
            }
            XCTAssertTrue(bench.wait { Self.group(bench)?.lines.count == 3 })
            bench.waitUntilIdle()
            let row = try XCTUnwrap(Self.row(bench))
            XCTAssertEqual(
                row.accessibleText, "You changed the room name to “Short” · You changed the topic to “Second”")
            let height = row.widget.height
            try bench.activate()
            try RealInput.point(at: row.widget)
            try RealInput.click()
            XCTAssertTrue(bench.wait { Self.group(bench)?.isExpanded == true && row.widget.height > height })
            XCTAssertTrue(row.accessibleText.contains("You changed the topic to “First”"), row.accessibleText)
            bench.timeline.grabFocus()
            XCTAssertTrue(bench.wait { bench.list.focusedRow == bench.model.rows.count - 1 })
            try bench.press("Return")
            XCTAssertTrue(bench.wait { Self.group(bench)?.isExpanded == false && row.widget.height == height })
            try bench.press("space")
            XCTAssertTrue(bench.wait { Self.group(bench)?.isExpanded == true })
            XCTAssertEqual(bench.model.state.selection.count, 0)
            try bench.close()
        }
    }

    func testExpandingAGroupLeavesItsSummaryUnderThePointer() throws {
        try onMain {
            let bench = try ConversationBench(30)
            try finish { [backend = bench.fixture.backend] in
                try await backend.setTopic("First", of: ConversationBench.room)
                try await backend.renameRoom(ConversationBench.room, to: "Short")
                try await backend.setTopic("Second", of: ConversationBench.room)
            }
            XCTAssertTrue(bench.wait { Self.group(bench)?.lines.count == 3 })
            bench.waitUntilIdle()
            XCTAssertTrue(bench.list.isAtEnd)
            let row = try XCTUnwrap(Self.row(bench))
            let id = TimelineItem.ID.events(try XCTUnwrap(Self.group(bench)).id)
            let top = { bench.list.bounds(of: id)?.top ?? .nan }
            let (place, height) = (top(), row.widget.height)
            try bench.activate()
            try RealInput.point(at: row.widget)
            try RealInput.click()
            XCTAssertTrue(bench.wait { row.widget.height > height })
            bench.waitUntilIdle()
            XCTAssertEqual(top(), place, accuracy: 0.5)
            XCTAssertFalse(bench.list.isAtEnd)
            try RealInput.click()
            XCTAssertTrue(bench.wait { row.widget.height == height }, "the pointer is still over it")
            bench.waitUntilIdle()
            XCTAssertEqual(top(), place, accuracy: 0.5)
            let message = Message(
                id: MessageID("later"), roomID: ConversationBench.room, sender: ConversationBench.other,
                text: "one more", sentAt: Date(timeIntervalSince1970: 1_790_000_000), position: 1000)
            bench.model.apply(.changed([message]))
            bench.waitUntilIdle()
            XCTAssertNotNil(bench.model.rows.last?.message)
            XCTAssertTrue(bench.list.isAtEnd, "the end is followed again")
            try bench.close()
        }
    }

    func testExpandingDetailsLeavesTheirMessageInPlace() throws {
        try onMain {
            let fixture = try ConversationBench.makeRoom(30, unread: 0)
            try finish { [store = fixture.store] in
                _ = try await store.append(
                    NewMessage(
                        id: MessageID("m30"), sender: ConversationBench.own, text: "Log",
                        sentAt: Date(timeIntervalSince1970: 1_768_000_000),
                        formattedText: "<details><summary>Log</summary>one<br>two<br>three<br>four</details>"),
                    to: ConversationBench.room)
            }
            let bench = try ConversationBench(in: fixture)
            XCTAssertTrue(bench.list.isAtEnd)
            let row = try XCTUnwrap(bench.row(30))
            let expander = try XCTUnwrap(
                row.widget.descendants.first { $0.isInstance(of: gtk_expander_get_type()) })
            let top = { bench.list.bounds(of: bench.id(30))?.top ?? .nan }
            let (place, height) = (top(), row.widget.height)
            expander.setProperty("expanded", true)
            XCTAssertTrue(bench.wait { row.widget.height > height })
            bench.waitUntilIdle()
            XCTAssertEqual(top(), place, accuracy: 0.5)
            XCTAssertFalse(bench.list.isAtEnd)
            expander.setProperty("expanded", false)
            XCTAssertTrue(bench.wait { row.widget.height == height })
            bench.waitUntilIdle()
            XCTAssertEqual(top(), place, accuracy: 0.5)
            XCTAssertTrue(bench.list.isAtEnd)
            try bench.close()
        }
    }

    func testWhatWasExpandedAndRevealedIsThereAgainAfterScrolling() throws {
        try onMain {
            let fixture = try ConversationBench.makeRoom(40, unread: 0)
            let (html, edited) = (TimelineEventTests.log("three"), TimelineEventTests.log("four"))
            try finish { [store = fixture.store] in
                _ = try await store.append(
                    NewMessage(
                        id: MessageID("m40"), sender: ConversationBench.own, text: "Log",
                        sentAt: Date(timeIntervalSince1970: 1_768_000_000), formattedText: html),
                    to: ConversationBench.room)
            }
            let bench = try ConversationBench(in: fixture)
            let expander = { @MainActor in
                bench.row(40)?.widget.descendants
                    .compactMap { $0.wrapped(as: Expander.self, gtk_expander_get_type()) }.first
            }
            let spoiler = { @MainActor in
                bench.row(40)?.widget.descendants.compactMap { BodyText.of($0) }.first { !$0.actions.isEmpty }
            }
            try XCTUnwrap(expander()).isExpanded = true
            try XCTUnwrap(spoiler()).act(0)
            let scrollAway = { @MainActor in
                bench.list.scrollToStart()
                XCTAssertTrue(bench.wait { bench.row(40) == nil })
                bench.list.scrollToEnd()
                XCTAssertTrue(bench.wait { bench.row(40) != nil })
            }
            scrollAway()
            XCTAssertEqual(expander()?.isExpanded, true)
            XCTAssertEqual(spoiler()?.isCovered(0), false)
            try XCTUnwrap(spoiler()).act(0)
            scrollAway()
            XCTAssertEqual(spoiler()?.isCovered(0), true, "the user has covered it again")
            var message = try XCTUnwrap(bench.row(40)?.item).message
            let content = message.content
            message.content.formattedText = edited
            bench.model.apply(.changed([message]))
            XCTAssertTrue(bench.wait { expander()?.isExpanded == false })
            message.content = content
            bench.model.apply(.changed([message]))
            XCTAssertTrue(bench.wait { bench.row(40)?.item?.message.content == content })
            XCTAssertEqual(expander()?.isExpanded, false, "the edit has removed what was expanded")
            try bench.close()
        }
    }

    private static func log(_ line: String) -> String {
        "<details><summary>Log</summary>one<br>two<br>\(line)</details><p><span data-mx-spoiler>words</span></p>"
    }

    /// A row that was expanded is used again for an event by itself.
    func testRecycledRowIsNoMoreExpandableThanItsEvents() throws {
        try onMain {
            let fixture = try ChatFixture()
            let group = { (ids: [String]) in
                EventGroup(
                    lines: ids.map {
                        EventGroup.Line(
                            id: MessageID($0), event: RoomEvent(.topicSet, after: "Tea"), actor: .currentUser,
                            subject: .currentUser, sentAt: Date(timeIntervalSince1970: 0))
                    }, isExpanded: true)
            }
            let row = EventRow { _ in }
            row.show(.events(group(["a", "b"])), selected: nil)
            XCTAssertEqual(row.accessiblyExpanded, true)
            row.show(.events(group(["c"])), selected: nil)
            XCTAssertNil(row.accessiblyExpanded)
            try fixture.close()
        }
    }

    @MainActor private static func group(_ bench: ConversationBench) -> EventGroup? { bench.model.rows.last?.events }

    @MainActor private static func row(_ bench: ConversationBench) -> EventRow? {
        group(bench).flatMap { bench.list.row(for: TimelineItem.ID.events($0.id)) as? EventRow }
    }

    func testReadReceiptsAppearBesideTheirMessageAndMoveNoRows() throws {
        try onMain {
            let bench = try ConversationBench(12)
            let people = (0..<7).map { MemberID("reader\($0)") }
            @MainActor func read(_ number: Int, _ readers: ArraySlice<MemberID>) throws {
                try finish { [store = bench.fixture.store] in
                    let message = MessageID("m\(number)")
                    for (place, reader) in readers.enumerated() {
                        let readAt = Date(timeIntervalSince1970: 1_767_400_000 + Double(place))
                        try await store.setReceipt(
                            ReadReceipt(member: reader, message: message, readAt: readAt), in: ConversationBench.room)
                    }
                }
                // Emulate a backend that publishes changed receipts.
                let known = try finish { [backend = bench.fixture.backend] in
                    try await backend.messages(in: ConversationBench.room, before: .max, limit: 100).messages
                }
                bench.model.apply(.changed(known))
            }
            let places = bench.visible.map(bench.bottom)
            try read(9, people[...])
            XCTAssertTrue(bench.wait { bench.row(9)?.readReceipts.widget.isVisible == true })
            bench.waitUntilIdle()
            XCTAssertEqual(bench.visible.map(bench.bottom), places)
            let receipts = try XCTUnwrap(bench.row(9)?.readReceipts)
            XCTAssertEqual(
                receipts.widget.children.count { $0.isVisible }, ReadReceipts.maxAvatars, "four and a number")
            XCTAssertTrue(receipts.accessibleText.hasSuffix("and 5 others"), receipts.accessibleText)
            XCTAssertTrue(bench.row(9)?.accessibleText.contains("Read by") == true)
            try read(10, people.prefix(3))
            XCTAssertTrue(bench.wait { bench.row(10)?.readReceipts.widget.isVisible == true })
            bench.waitUntilIdle()
            XCTAssertEqual(bench.visible.map(bench.bottom), places)
            XCTAssertEqual(bench.row(9)?.readReceipts.widget.children.count { $0.isVisible }, 4)
            for number in [9, 10] {
                let row = try XCTUnwrap(bench.row(number))
                let bounds = try XCTUnwrap(row.readReceipts.widget.bounds(in: row.widget))
                XCTAssertTrue(bounds.x >= 0 && bounds.x + bounds.width <= Double(row.widget.width), "\(bounds)")
            }
            try bench.close()
        }
    }
}
