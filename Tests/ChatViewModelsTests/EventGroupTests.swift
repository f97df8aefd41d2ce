import ChatCore
import ChatTestSupport
import ChatViewModels
import Foundation
import Testing

/// Membership and other state events grouped in one row.
@MainActor @Suite(.timeLimit(.minutes(10))) struct EventGroupTests {
    private let harness = TimelineHarness()

    nonisolated private static func sketch(_ group: EventGroup) -> String {
        func name(_ person: EventGroup.Participant) -> String {
            switch person {
            case .currentUser: "me"
            case .named(let name): name
            }
        }
        return group.segments.map { part in
            switch part {
            case .members(.joinedAndLeft, let people): "came-and-went " + people.map(name).joined(separator: ",")
            case .members(.rejoined, let people): "back " + people.map(name).joined(separator: ",")
            case .members(.kind(let kind), let people): "\(kind) " + people.map(name).joined(separator: ",")
            case .room(let line): "\(line.event.kind)=\(line.event.after ?? "")"
            }
        }.joined(separator: "; ")
    }

    nonisolated private static func did(_ who: String, _ kind: RoomEvent.Kind) -> RoomEvent {
        RoomEvent(kind, subject: MemberID(who), name: who)
    }

    /// Each case: the events and their summary.
    nonisolated static let summaries: [([RoomEvent], String)] = [
        ([did("a", .joined)], "joined a"),
        ([did("a", .joined), did("b", .joined), did("a", .avatarChanged)], "joined a,b"),
        ([did("a", .joined), did("a", .left)], "came-and-went a"),
        ([did("a", .invited), did("a", .joined), did("a", .left)], "came-and-went a"),
        ([did("a", .left), did("a", .joined)], "back a"),
        ([did("a", .joined), did("a", .left), did("a", .joined)], "joined a"),
        ([did("a", .left), did("a", .joined), did("a", .left)], "left a"),
        ([did("a", .invited), did("b", .left), did("a", .declined)], "declined a; left b"),
        ([did("a", .joined), did("a", .banned)], "banned a"),
        ([did("a", .renamed), did("a", .renamed), did("a", .avatarChanged)], "renamed a; avatarChanged a"),
        (
            [RoomEvent(.topicSet, after: "x"), did("own", .joined), RoomEvent(.topicSet, after: "y")],
            "joined me; topicSet=y"
        ),
    ]

    @Test(arguments: summaries) func summariesMentionEachMemberOnceWithTheOutcome(
        _ events: [RoomEvent], expected: String
    ) async {
        await harness.open(
            events.enumerated().map { .of(Int64($0), $1) }, members: [Fixtures.own, Fixtures.other])
        let group = harness.items.last?.events
        #expect(group.map(Self.sketch) == expected)
        #expect(group?.canExpand == (events.count > 1))
    }

    @Test func currentMembersAreShownByTheirCurrentName() async {
        await harness.open([.of(1, RoomEvent(.joined, subject: Fixtures.other.id, name: "Old"))])
        #expect(harness.items.last?.events?.lines.first?.subject == .named(Fixtures.other.displayName))
    }

    @Test func groupStaysExpandedWhileItGrows() async {
        await harness.open([.of(1), .of(2, Self.did("a", .joined)), .of(3, Self.did("b", .joined))])
        harness.timeline.send(.message(MessageID("m2"), .toggleEvents))
        #expect(harness.items.last?.events?.isExpanded == true)
        harness.forgetEffects()
        await harness.publish(.changed([.of(4, Self.did("c", .joined))]))
        #expect(harness.items.last?.events?.isExpanded == true && harness.sketch == "d10 (m1) [m2+m3+m4]")
        #expect(
            harness.effects.filter { if case .changed = $0 { true } else { false } } == [.changed([.update(2..<3)])],
            "the row is the same")
        harness.timeline.send(.message(MessageID("m2"), .toggleEvents))
        #expect(harness.items.last?.events?.isExpanded == false)
    }

    @Test func roomEventsAreNotAnnouncedOrSelectable() async {
        await harness.open([.of(1), .of(2, by: Fixtures.own), .of(3, Self.did("a", .joined))])
        #expect(harness.timeline.lastEditable?.id == MessageID("m2"))
        harness.forgetEffects()
        await harness.publish(.changed([.of(4, Self.did("b", .left))]))
        #expect(!harness.effects.contains { if case .arrived = $0 { true } else { false } })
        harness.timeline.send(.pages(.jump(.message(MessageID("m4")))))
        #expect(harness.effects.last == .reveal(.events(MessageID("m3"))), "the row that it is in")
        harness.timeline.send(.selection(.selectAll))
        #expect(harness.timeline.selectedText?.focus.message == MessageID("m2"))
        harness.timeline.send(.selection(.extend(.message, forward: true, from: MessageID("m2"))))
        #expect(harness.timeline.selectedText?.focus.message == MessageID("m2"))
    }
}
