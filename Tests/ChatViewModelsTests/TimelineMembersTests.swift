import ChatCore
import ChatTestSupport
import Observation
import Testing

@testable import ChatViewModels

/// Members found by ID while they change.
@Suite(.timeLimit(.minutes(10))) struct TimelineMembersTests {
    @Test("Changed members keep their place, and new ones come last")
    func changedMembersKeepTheirPlace() {
        var members = TimelineMembers([Fixtures.own, Fixtures.other])
        let renamed = Member(id: Fixtures.other.id, displayName: "Alexandra", kind: .person)
        let new = Member(id: MemberID("new"), displayName: "New", kind: .person)
        let changes = members.change([renamed, new])
        #expect(changes.map(\.before) == [Fixtures.other, nil])
        #expect(members.all == [Fixtures.own, renamed, new])
        #expect(members.name(of: Fixtures.other.id) == "Alexandra" && members.name(of: MemberID("x")) == "x")
        #expect(members[new.id] == new && members.ownUserID == Fixtures.own.id)
    }

    @Test("The others are counted as they come, go and are renamed")
    func countsOthers() {
        var members = TimelineMembers([Fixtures.own, Fixtures.other])
        #expect(members.otherCount == 1)
        var new = Member(id: MemberID("new"), displayName: "New", kind: .person, hasLeft: true)
        for (hasLeft, count) in [(true, 1), (false, 2), (false, 2), (true, 1)] {
            new.hasLeft = hasLeft
            new.displayName += "!"
            _ = members.change([new, Fixtures.own])
            #expect(members.otherCount == count && members.all.count { $0.isOther } == count)
        }
    }

    @Test("The number of others is read again if members change, not if messages are selected or cleared")
    @MainActor func otherCountDependsOnMembers() async {
        let harness = TimelineHarness()
        await harness.open([.of(1), .of(2)])
        let changes = Recorder<Int>()
        withObservationTracking {
            _ = harness.timeline.otherCount
        } onChange: {
            MainActor.assumeIsolated { changes.record(1) }
        }
        harness.timeline.send(.selection(.toggle(MessageID("m1"))))
        #expect(harness.state.selection.count == 1)
        harness.timeline.send(.pages(.clear))
        #expect(harness.state.isEmpty && changes.values.isEmpty)
        await harness.publish(.membersChanged([Member(id: MemberID("new"), displayName: "New", kind: .person)]))
        #expect(changes.values == [1] && harness.timeline.otherCount == 2)
    }

    @Test("A change of a member copies no others, also while a view holds the state")
    @MainActor func membersChangeInPlace() async {
        let harness = TimelineHarness()
        await harness.open([.of(1)])
        let state = harness.state
        let address = { harness.timeline.members.withUnsafeBufferPointer { $0.baseAddress } }
        let before = address()
        await harness.publish(.membersChanged([Member(id: Fixtures.other.id, displayName: "Alexandra", kind: .person)]))
        #expect(harness.timeline.member(Fixtures.other.id)?.displayName == "Alexandra")
        #expect(address() == before)
        withExtendedLifetime(state) {}
    }

    @Test("The first of two members with one ID counts")
    func firstOfEqualIDsWins() {
        let duplicate = Member(id: Fixtures.other.id, displayName: "Twin", kind: .person)
        #expect(TimelineMembers([Fixtures.other, duplicate])[duplicate.id] == Fixtures.other)
    }
}
