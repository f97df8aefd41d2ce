import ChatCore
import ChatTestSupport
import Testing

@testable import ChatViewModels

/// Members found by ID while they change.
@Suite struct TimelineMembersTests {
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

    @Test("The first of two members with one ID counts")
    func firstOfEqualIDsWins() {
        let duplicate = Member(id: Fixtures.other.id, displayName: "Twin", kind: .person)
        #expect(TimelineMembers([Fixtures.other, duplicate])[duplicate.id] == Fixtures.other)
    }
}
