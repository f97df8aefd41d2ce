import ChatCore
import ChatStore
import Foundation
import JSONReading
import Testing

@testable import MatrixBackend

/// State events in a timeline.
@Suite struct RoomEventMappingTests {
    private let bob = MemberID("@bob:example.org")

    private func read(
        _ type: String, _ content: JSONValue, before: JSONValue? = nil, by sender: String = "@bob:example.org",
        key: String = "", creation: RoomState.Creation? = nil
    ) throws -> RoomEvent? {
        let unsigned: JSONValue = before.map { ["prev_content": $0] } ?? [:]
        let event = try #require(
            MatrixEvent(Events.event("$e", type, content, by: sender, at: 9000, stateKey: key, unsigned: unsigned)))
        let reader = EventParser(
            ownUserID: MemberID("@me:example.org"), translator: .untranslated, creation: creation)
        guard case .message(let message)? = reader.event(event) else { return nil }
        #expect(message.kind == .event && message.text.isEmpty)
        return message.event
    }

    /// Each case: the membership before and after, whether the user changed it themselves, and the resulting event.
    static let memberships: [(before: String?, after: String, isOwnDoing: Bool, RoomEvent.Kind?)] = [
        (nil, "join", true, .joined), ("invite", "join", true, .joined), ("leave", "join", true, .joined),
        ("join", "leave", true, .left), (nil, "leave", true, .left), ("join", "leave", false, .removed),
        (nil, "leave", false, .removed), ("invite", "leave", true, .declined), ("invite", "leave", false, .uninvited),
        (nil, "invite", false, .invited), ("invite", "invite", false, nil), ("join", "ban", false, .banned),
        (nil, "ban", false, .banned), ("ban", "leave", false, .unbanned), ("leave", "leave", true, nil),
        (nil, "knock", true, .knocked), ("knock", "leave", false, .uninvited), ("join", "join", true, nil),
        ("join", "org.example.new", true, nil),
    ]

    @Test(arguments: memberships) func membershipEventsDependOnTheirPreviousState(
        _ before: String?, _ after: String, _ isOwnDoing: Bool, _ expected: RoomEvent.Kind?
    ) throws {
        let event = try read(
            "m.room.member", ["membership": .string(after), "displayname": "Bob"],
            before: before.map { ["membership": .string($0), "displayname": "Bob"] },
            by: isOwnDoing ? bob.rawValue : "@ann:example.org", key: bob.rawValue)
        #expect(event == expected.map { RoomEvent($0, subject: bob, name: "Bob") })
    }

    @Test func leavingWithoutANameUsesThePreviousName() throws {
        let event = try read(
            "m.room.member", ["membership": "leave"], before: ["membership": "join", "displayname": "Bob"],
            key: bob.rawValue)
        #expect(event?.name == "Bob")
    }

    @Test func nameAndAvatarChangesAreEvents() throws {
        let was: JSONValue = ["membership": "join", "displayname": "Bob", "avatar_url": "mxc://a/1"]
        func changed(_ name: JSONValue?, _ picture: String) throws -> RoomEvent? {
            var content: [String: JSONValue] = ["membership": "join", "avatar_url": .string(picture)]
            content["displayname"] = name
            return try read("m.room.member", .object(content), before: was, key: bob.rawValue)
        }
        #expect(
            try changed("Robert", "mxc://a/1")
                == RoomEvent(.renamed, subject: bob, name: "Bob", before: "Bob", after: "Robert"))
        #expect(try changed(nil, "mxc://a/1")?.after == bob.rawValue, "without a name by the identifier")
        #expect(try changed("Bob", "mxc://a/2") == RoomEvent(.avatarChanged, subject: bob, name: "Bob"))
        #expect(try changed("Bob", "mxc://a/1") == nil, "nothing that anyone sees")
    }

    @Test func roomNameAndTopicChangesAreEvents() throws {
        #expect(
            try read("m.room.name", ["name": " A\n room "], before: ["name": "B"])
                == RoomEvent(.roomNamed, before: "B", after: "A room"))
        #expect(try read("m.room.name", [:], before: ["name": "B"]) == RoomEvent(.roomNamed, before: "B"))
        #expect(try read("m.room.name", ["name": "B"], before: ["name": "B"]) == nil)
        #expect(try read("m.room.topic", ["topic": "x"]) == RoomEvent(.topicSet, after: "x"))
        #expect(try read("m.room.avatar", ["url": "mxc://a/b"]) == RoomEvent(.roomAvatarChanged))
        #expect(try read("m.room.encryption", ["algorithm": "x"]) == RoomEvent(.encrypted))
        #expect(
            try read("m.room.tombstone", ["body": "x", "replacement_room": "!new:b.org"])
                == RoomEvent(
                    .replaced, before: "https://matrix.to/#/%21new%3Ab.org?via=example.org", after: "x"))
        let created = try read("m.room.create", ["predecessor": ["room_id": "!old:b.org", "event_id": "$last"]])
        #expect(created == RoomEvent(.continued, before: "https://matrix.to/#/%21old%3Ab.org?via=example.org"))
        #expect(created?.address == created?.before)
        for type in ["m.room.create", "m.room.join_rules", "org.example.state"] {
            #expect(try read(type, ["x": "y"]) == nil)
        }
        #expect(try read("m.room.name", ["name": "x"], key: "other") == nil, "of a kind that rooms do not have")
    }

    /// Power levels, join rules and aliases.
    @Test func ruleChangesAreEvents() throws {
        let levels: JSONValue = ["users": ["@bob:example.org": 100], "events": ["m.room.name": 50]]
        func powers(_ users: JSONValue, _ events: JSONValue = ["m.room.name": 50]) throws -> RoomEvent? {
            try read("m.room.power_levels", ["users": users, "events": events], before: levels)
        }
        let ann = MemberID("@ann:x")
        #expect(
            try powers(["@bob:example.org": 100, "@ann:x": 50]) == RoomEvent(.roleSet, subject: ann, after: "moderator")
        )
        #expect(try powers(["@bob:example.org": 100, "@ann:x": 100])?.after == "administrator")
        #expect(try powers([:])?.after == "member")
        #expect(try powers(["@bob:example.org": 50, "@ann:x": 100]) == RoomEvent(.permissionsSet), "of two")
        #expect(try powers(["@bob:example.org": 100], ["m.room.name": 100]) == RoomEvent(.permissionsSet))
        #expect(try powers(["@bob:example.org": 100]) == nil)
        #expect(try read("m.room.power_levels", levels) == RoomEvent(.permissionsSet), "not told what was before")

        #expect(try read("m.room.join_rules", ["join_rule": "public"]) == RoomEvent(.joinRuleSet, after: "public"))
        #expect(try read("m.room.join_rules", ["join_rule": "knock"], before: ["join_rule": "knock"]) == nil)
        #expect(
            try read("m.room.history_visibility", ["history_visibility": "shared"])
                == RoomEvent(.historyVisibilitySet, after: "shared"))
        #expect(
            try read("m.room.guest_access", ["guest_access": "can_join"])
                == RoomEvent(.guestAccessSet, after: "can_join"))

        let alias: JSONValue = ["alias": "#a:x"]
        #expect(try read("m.room.canonical_alias", alias) == RoomEvent(.addressSet, after: "#a:x"))
        #expect(try read("m.room.canonical_alias", [:], before: alias) == RoomEvent(.addressSet, before: "#a:x"))
        #expect(
            try read("m.room.canonical_alias", ["alias": "#a:x", "alt_aliases": ["#b:x"]], before: alias)
                == RoomEvent(.addressesSet))
        #expect(try read("m.room.canonical_alias", [:]) == nil)

        #expect(try read("m.room.pinned_events", ["pinned": ["$1"]]) == RoomEvent(.pinned))
        #expect(try read("m.room.pinned_events", ["pinned": []], before: ["pinned": ["$1"]]) == RoomEvent(.unpinned))
        #expect(
            try read("m.room.third_party_invite", ["display_name": "carl@…"], key: "token")
                == RoomEvent(.invitedElsewhere, after: "carl@…"))
        #expect(
            try read("m.room.third_party_invite", [:], before: ["display_name": "carl@…"], key: "token")
                == RoomEvent(.uninvitedElsewhere, after: "carl@…"))
        let call = try #require(MatrixEvent(Events.event("$c", "m.call.invite", ["call_id": "1"])))
        guard case .message(let message)? = EventParser(ownUserID: bob, translator: .untranslated).event(call) else {
            Issue.record("a call is not told")
            return
        }
        #expect(message.event == RoomEvent(.called) && message.kind == .event)
    }

    @Test("A verification request is a room event, not its fallback text")
    func verificationRequest() throws {
        func read(to user: JSONValue) throws -> TimelineEvent? {
            let event = try #require(
                MatrixEvent(
                    Events.event(
                        "$v", "m.room.message",
                        [
                            "msgtype": "m.key.verification.request", "body": "Your client does not support it",
                            "to": user,
                        ], by: "@ann:example.org")))
            return EventParser(ownUserID: bob, translator: .untranslated).event(event)
        }
        guard case .message(let message)? = try read(to: .string(bob.rawValue)) else {
            Issue.record("a request is not shown")
            return
        }
        #expect(message.event == RoomEvent(.verificationRequested, subject: bob))
        #expect(message.content.text.isEmpty && message.sender == MemberID("@ann:example.org"))
        for user: JSONValue in ["@ann:example.org", 1, .null] { #expect(try read(to: user) == nil) }
    }

    @Test func initialStateIsNotAnEvent() throws {
        let made = RoomState.Creation(creator: bob, at: Date(timeIntervalSince1970: 8))
        #expect(try read("m.room.name", ["name": "x"], creation: made) == nil)
        #expect(try read("m.room.name", ["name": "x"], by: "@ann:example.org", creation: made) != nil)
        #expect(try read("m.room.name", ["name": "x"], before: ["name": "y"], creation: made) != nil, "again")
        let longAgo = RoomState.Creation(creator: bob, at: Date(timeIntervalSince1970: -52))
        #expect(try read("m.room.name", ["name": "x"], creation: longAgo) != nil)
        let invitation: JSONValue = ["membership": "invite"]
        #expect(try read("m.room.member", invitation, key: "@ann:example.org", creation: made) == nil)
        let late = try read("m.room.member", invitation, key: "@ann:example.org", creation: longAgo)
        #expect(late?.kind == .invited)
        let later = RoomState.Creation(creator: bob, at: Date(timeIntervalSince1970: 9.5))
        #expect(try read("m.room.name", ["name": "x"], creation: later) != nil, "from before it was made")
    }
}
