import ChatCore
import ChatTestSupport
import ChatViewModels
import Foundation
import Testing

/// Days, groups and the unread line.
@MainActor @Suite(.timeLimit(.minutes(10))) struct TimelineLayoutTests {
    private let harness = TimelineHarness()

    nonisolated private static func at(_ day: Int, _ hour: Int = 12, _ minute: Int = 0, _ second: Int = 0) -> Date {
        localTime(2026, 3, day, hour, minute, second)
    }

    nonisolated static let own = Fixtures.own
    nonisolated static let other = Fixtures.other

    /// Each case: a description, the messages and the expected layout.
    nonisolated static let layouts: [(String, [Message], String)] = [
        ("nothing", [], ""),
        ("one", [.of(1, at: at(10))], "d10 (m1)"),
        ("a run", [.of(1, at: at(10)), .of(2, at: at(10)), .of(3, at: at(10, 12, 4))], "d10 (m1 m2 m3)"),
        ("a change of sender", [.of(1, at: at(10)), .of(2, by: own, at: at(10))], "d10 (m1) (m2)"),
        (
            "just within the pause", [.of(1, at: at(10)), .of(2, at: at(10, 12, 4, 59))], "d10 (m1 m2)"
        ),
        ("a pause", [.of(1, at: at(10)), .of(2, at: at(10, 12, 5))], "d10 (m1) (m2)"),
        (
            "a slow run of short pauses", [.of(1, at: at(10)), .of(2, at: at(10, 12, 4)), .of(3, at: at(10, 12, 8))],
            "d10 (m1 m2 m3)"
        ),
        (
            "midnight within a run", [.of(1, at: at(9, 23, 59)), .of(2, at: at(10, 0, 0))], "d9 (m1) d10 (m2)"
        ),
        ("days between", [.of(1, at: at(1)), .of(2, at: at(9))], "d1 (m1) d9 (m2)"),
        (
            "a clock that went back a day", [.of(1, at: at(10)), .of(2, at: at(9)), .of(3, at: at(10))],
            "d10 (m1) (m2) (m3)"
        ),
        (
            "a clock that went back an hour", [.of(1, at: at(10)), .of(2, at: at(10, 11)), .of(3, at: at(10, 11, 1))],
            "d10 (m1) (m2 m3)"
        ),
        (
            "a clock that was ahead", [.of(1, at: at(8)), .of(2, at: at(6)), .of(3, at: at(9))],
            "d8 (m1) (m2) d9 (m3)"
        ),
        (
            "a clock that is ahead", [.of(1, at: at(9)), .of(2, at: at(3000)), .of(3, at: at(9)), .of(4, at: at(10))],
            "d9 (m1) (m2) (m3) d10 (m4)"
        ),
        ("only a clock that is ahead", [.of(1, at: at(11)), .of(2, at: at(10))], "(m1) d10 (m2)"),
    ]

    nonisolated private static let joined = RoomEvent(.joined, subject: other.id)

    nonisolated static let events: [(String, [Message], String)] = [
        ("alone", [.of(1, joined)], "d10 [m1]"),
        ("in a run", [.of(1), .of(2, joined), .of(3, joined), .of(4)], "d10 (m1) [m2+m3] (m4)"),
        (
            "over midnight", [.of(1, joined, at: at(9)), .of(2, joined, at: at(10)), .of(3, joined, at: at(10))],
            "d9 [m1] d10 [m2+m3]"
        ),
    ]

    @Test(arguments: layouts + events) func groupsMessagesByDayAndSender(
        _ what: String, messages: [Message], expected: String
    ) async {
        await harness.open(messages)
        #expect(harness.sketch == expected, "\(what)")
        #expect(Set(harness.items.map(\.id)).count == harness.items.count)
        #expect(harness.state.isEmpty == messages.isEmpty)
    }

    @Test("A message from tomorrow gets its divider once that day has come.")
    func tomorrowBecomesToday() async {
        await harness.open([.of(1, at: Self.at(10)), .of(2, at: Self.at(11, 0, 1))])
        #expect(harness.sketch == "d10 (m1) (m2)")
        harness.now = Self.at(11, 0, 2)
        harness.timeline.send(.context(.dayChanged))
        #expect(harness.sketch == "d10 (m1) d11 (m2)")
    }

    /// Each case: a description, the messages, the read position and the expected unread line.
    nonisolated static let unreadLines: [(String, [Message], hasOlder: Bool, readUpTo: Int64?, String)] = [
        ("all read", [.of(1), .of(2)], false, 2, "d10 (m1 m2)"),
        ("what happened is not unread", [.of(1), .of(2, joined)], false, 1, "d10 (m1) [m2]"),
        ("behind what happened", [.of(1), .of(2, joined), .of(3)], false, 1, "d10 (m1) [m2] -- (m3)"),
        (
            "after the first of what happened", [.of(1), .of(2, joined), .of(3, joined), .of(4)], false, 2,
            "d10 (m1) [m2+m3] -- (m4)"
        ),
        ("in a run", [.of(1), .of(2), .of(3)], false, 1, "d10 (m1) -- (m2 m3)"),
        ("never read", [.of(1), .of(2)], false, nil, "d10 (m1 m2)"),
        ("before own", [.of(1), .of(2, by: own), .of(3)], false, 1, "d10 (m1) (m2) -- (m3)"),
        ("own alone is not unread", [.of(1), .of(2, by: own)], false, 1, "d10 (m1) (m2)"),
        ("at midnight", [.of(1, at: at(9)), .of(2, at: at(10))], false, 1, "d9 (m1) d10 -- (m2)"),
        ("read in an older page", [.of(5), .of(6)], true, 2, "d10 (m5 m6)"),
        ("read what is gone", [.of(5), .of(6)], false, 2, "d10 (m5 m6)"),
    ]

    @Test(arguments: unreadLines) func showsTheUnreadLine(
        _ what: String, messages: [Message], hasOlder: Bool, readUpTo: Int64?, expected: String
    ) async {
        await harness.open(messages, hasOlder: hasOlder, readUpTo: readUpTo)
        #expect(harness.sketch == expected, "\(what)")
    }

    /// The unread line covers what was unread on opening, not messages that arrive while the room is open.
    @Test(arguments: [(1, [Message.of(1)]), (1, [.of(1), .of(2, by: own)])] as [(Int64, [Message])])
    func laterMessagesDoNotAddAnUnreadLine(readUpTo: Int64, messages: [Message]) async {
        await harness.open(messages, readUpTo: readUpTo)
        await harness.publish(.changed([.of(3), .of(4)]))
        #expect(!harness.items.contains(.unreadLine))
    }

    @Test func unreadLineStaysWhileMessagesArrive() async {
        await harness.open([.of(1), .of(2)], readUpTo: 1)
        await harness.publish(.changed([.of(3)]))
        harness.timeline.send(.reading(.scrolled(to: nil)))
        #expect(harness.sketch == "d10 (m1) -- (m2 m3)")
    }

    @Test func unreadLineAppearsWithTheOlderPage() async {
        harness.service.pages = { _, _ in TimelinePage(messages: [.of(1), .of(2), .of(3)], hasOlder: false) }
        await harness.open([.of(4), .of(5)], hasOlder: true, readUpTo: 2)
        harness.timeline.send(.pages(.load(.older)))
        await eventually { [harness] in !harness.state.hasOlder }
        #expect(harness.sketch == "d10 (m1 m2) -- (m3 m4 m5)")
    }

    @Test func midnightUpdatesTheDays() async {
        func days() -> [RelativeDay] {
            harness.items.compactMap { if case .day(_, _, let day) = $0 { day } else { nil } }
        }
        await harness.open([.of(1, at: Self.at(1)), .of(2, at: Self.at(9)), .of(3, at: Self.at(10))])
        #expect(days() == [.other(sameYear: true), .yesterday, .today])
        harness.now = localTime(2026, 3, 11, 0, 0, 1)
        #expect(days() == [.other(sameYear: true), .yesterday, .today])
        harness.timeline.send(.context(.dayChanged))
        #expect(days() == [.other(sameYear: true), .thisWeek, .yesterday])
    }

    @Test func itemsShowSenderNamesAndStates() async {
        var edited = Message.of(2, by: Self.own)
        edited.editedAt = Self.at(10, 13)
        var deletedLater = Message.of(3, isDeleted: true)
        deletedLater.editedAt = Self.at(10, 13)
        await harness.open([
            .of(1), edited, deletedLater, .of(4, by: Member(id: MemberID("x"), displayName: "X", kind: .person)),
        ])
        let items = harness.messages
        #expect(items.map(\.senderName) == ["Alex", "Robin", "Alex", "x"])
        #expect(items.map(\.isOwn) == [false, true, false, false])
        #expect(items.map(\.isEdited) == [false, true, false, false])
        #expect(items.map(\.isDeleted) == [false, false, true, false])
        #expect(items.map(\.showsSender) == [true, false, true, true])
        #expect(items.map(\.canEdit) == [false, true, false, false])
        #expect(items.map(\.canDelete) == [false, true, false, false])
        #expect(items.map(\.canCopy) == [true, true, false, true])
        await harness.publish(
            .members([Self.own, Member(id: Self.other.id, displayName: "Alexandra", kind: .person, hasLeft: true)]))
        #expect(harness.messages[0].senderName == "Alexandra")
        #expect(harness.timeline.otherMembers.isEmpty)
    }
}
