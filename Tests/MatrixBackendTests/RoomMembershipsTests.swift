import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Synchronization
import Testing

@testable import MatrixBackend

/// Members of rooms, and the user directory.
@Suite(.timeLimit(.minutes(10))) struct RoomMembershipsTests {
    private let room = AccountParts.room
    private let ann = MemberID("@ann:example.org")

    private func memberships(_ parts: AccountParts) -> RoomMemberships {
        RoomMemberships(
            client: parts.client, context: parts.context, writer: parts.writer, keys: parts.keys)
    }

    private func addAnn(to parts: AccountParts) async throws {
        var batch = AccountParts.batch()
        batch.members = [Member(id: ann, displayName: "Ann", kind: .person)]
        try await parts.writer.write(SyncBatch(rooms: [batch]))
    }

    @Test("A directory search omits the user, invalid IDs and blank names")
    func users() async throws {
        let transport = FakeTransport.responding { _ in
            [
                "results": [
                    ["user_id": "@me:example.org", "display_name": "Me"],
                    ["user_id": "@ann:example.org", "display_name": " Ann\n", "avatar_url": "mxc://example.org/a"],
                    ["user_id": "@bob:example.org", "display_name": " "], ["user_id": "no ID"],
                ]
            ]
        }
        let parts = try await AccountParts.make(transport.client)
        let found = try await memberships(parts).users(matching: "a")
        #expect(
            found == [
                User(id: ann, name: "Ann", avatar: "mxc://example.org/a"), User(id: MemberID("@bob:example.org")),
            ])
        await parts.store.close()
    }

    @Test("Only a user ID is invited, and only to a known room")
    func invite() async throws {
        let transport = FakeTransport(200)
        let parts = try await AccountParts.make(transport.client)
        let memberships = memberships(parts)
        await #expect(throws: ChatError.notFound) { try await memberships.invite("ann", to: room) }
        await #expect(throws: ChatError.notFound) {
            try await memberships.invite(ann.rawValue, to: RoomID("!unknown:example.org"))
        }
        #expect(transport.requests.isEmpty)
        try await memberships.invite(ann.rawValue, to: room)
        #expect(transport.requests.map(\.url.lastPathComponent) == ["invite"])
        await parts.store.close()
    }

    @Test("A removed member keeps the name at messages and is published as having left")
    func remove() async throws {
        let transport = FakeTransport.responding { $0.url.path.hasSuffix("/kick") ? [:] : nil }
        let parts = try await AccountParts.make(transport.client)
        try await addAnn(to: parts)
        var updates = await parts.open()
        _ = await updates.next()
        try await memberships(parts).remove(ann, from: room)
        guard case .membersChanged(let changed)? = await updates.next() else {
            Issue.record("not published")
            return
        }
        #expect(changed == [Member(id: ann, displayName: "Ann", kind: .person, hasLeft: true)])
        #expect(try await parts.store.member(ann, of: room)?.hasLeft == true)
        await #expect(throws: ChatError.notFound, "has left") { try await memberships(parts).remove(ann, from: room) }
        await #expect(throws: ChatError.notPermitted, "leaves instead") {
            try await memberships(parts).remove(AccountParts.own, from: room)
        }
        #expect(transport.requests.map { $0.url.path.hasSuffix("/kick") } == [true, false])
        await parts.store.close()
    }

    @Test(
        "An invitation is revoked although the invited user is no stored member, or a former one",
        arguments: [false, true])
    func revokeInvitation(wasMember: Bool) async throws {
        let transport = FakeTransport.responding { request in
            request.url.path.contains("/m.room.member/") ? ["membership": "invite"] : [:]
        }
        let parts = try await AccountParts.make(transport.client)
        if wasMember {
            try await addAnn(to: parts)
            _ = try await parts.store.removeMember(ann, from: room)
        }
        try await memberships(parts).remove(ann, from: room)
        #expect(transport.requests.map { $0.url.path.hasSuffix("/kick") } == [false, true])
        #expect(try await parts.store.member(ann, of: room)?.hasLeft != false)
        await parts.store.close()
    }

    @Test("A removal that a sync stores before the server's response arrives has succeeded")
    func removalStoredBySync() async throws {
        let synced = Mutex<AccountParts?>(nil)
        let transport = FakeTransport.responding { [room, ann] request in
            guard request.url.path.hasSuffix("/kick"), let parts = synced.withLock({ $0 }) else { return }
            try await parts.writer.serialized { _ = try await parts.store.removeMember(ann, from: room) }
        } _: { _ in
            [:]
        }
        let parts = try await AccountParts.make(transport.client)
        try await addAnn(to: parts)
        synced.withLock { $0 = parts }
        try await memberships(parts).remove(ann, from: room)
        #expect(try await parts.store.member(ann, of: room)?.hasLeft == true)
        #expect(transport.requests.map(\.url.lastPathComponent) == ["kick"])
        await parts.store.close()
    }

    @Test("A member who has joined again before the response to their removal arrives is still there")
    func rejoined() async throws {
        let synced = Mutex<AccountParts?>(nil)
        func joined(_ event: String) -> SyncBatch {
            var batch = AccountParts.batch()
            batch.members = [Member(id: ann, displayName: "Ann", kind: .person)]
            batch.origins = [.member(ann): MessageID(event)]
            return SyncBatch(rooms: [batch])
        }
        let again = joined("$again")
        let transport = FakeTransport.responding { [room, ann] request in
            guard request.url.path.hasSuffix("/kick"), let parts = synced.withLock({ $0 }) else { return }
            try await parts.writer.serialized {
                _ = try await parts.store.removeMember(ann, from: room)
                try await parts.writer.write(again)
            }
        } _: { _ in
            [:]
        }
        let parts = try await AccountParts.make(transport.client)
        try await parts.writer.write(joined("$joined"))
        synced.withLock { $0 = parts }
        try await memberships(parts).remove(ann, from: room)
        #expect(try await parts.store.member(ann, of: room)?.hasLeft == false)
        #expect(transport.requests.map(\.url.lastPathComponent) == ["kick"])
        await parts.store.close()
    }

    @Test("A list of members that arrives after a sync does not bring back who has left since")
    func lateMembers() async throws {
        let left = Mutex<AccountParts?>(nil)
        let transport = FakeTransport.responding { [room, ann] request in
            // Between the server's response and its arrival.
            guard request.url.path.hasSuffix("/members"), let parts = left.withLock({ $0 }) else { return }
            try await parts.writer.serialized { _ = try await parts.store.removeMember(ann, from: room) }
        } _: { request in
            guard request.url.path.hasSuffix("/members") else { return nil }
            let members = ["@me", "@ann", "@new"].map { Events.member("\($0):example.org", $0) }
            return ["chunk": .array(members)]
        }
        let parts = try await AccountParts.make(transport.client)
        try await addAnn(to: parts)
        left.withLock { $0 = parts }
        _ = try await memberships(parts).members(of: room)
        #expect(try await parts.store.member(ann, of: room)?.hasLeft == true)
        #expect(try await parts.store.member(MemberID("@new:example.org"), of: room)?.hasLeft == false)
        await parts.store.close()
    }

    @Test(
        "Stored members who are missing from the server's list have left, unless the list lacks the user",
        arguments: ["join", "invite", nil])
    func missingMembers(ownMembership: String?) async throws {
        let bob = MemberID("@bob:example.org")
        let transport = FakeTransport.responding { request in
            guard request.url.path.hasSuffix("/members") else { return nil }
            // Bob's event cannot be read, but he is listed.
            var members: [JSONValue] = [["type": "m.room.member", "state_key": .string(bob.rawValue)]]
            if let ownMembership { members.append(Events.member("@me:example.org", "Me", ownMembership)) }
            return ["chunk": .array(members)]
        }
        let parts = try await AccountParts.make(transport.client)
        var batch = AccountParts.batch()
        batch.members = [(ann, "Ann"), (bob, "Bob")].map { Member(id: $0, displayName: $1, kind: .person) }
        try await parts.writer.write(SyncBatch(rooms: [batch]))
        var updates = await parts.open()
        _ = await updates.next()
        _ = try await memberships(parts).members(of: room)
        let left = try #require(try await parts.store.member(ann, of: room))
        #expect(left.hasLeft == (ownMembership == "join") && left.displayName == "Ann")
        #expect(try await parts.store.member(bob, of: room)?.hasLeft == false)
        #expect(try await parts.store.member(AccountParts.own, of: room)?.hasLeft == false)
        if ownMembership == "join" { #expect(await updates.next() == .membersChanged([left])) }
        await parts.store.close()
    }

    @Test("Creators with infinite power are stored with the list of members, as earlier versions did not")
    func creators() async throws {
        let transport = FakeTransport.responding { request in
            switch request.url.path {
            case let path where path.hasSuffix("/members"): ["chunk": [Events.member("@me:example.org", "Me")]]
            case let path where path.contains("/m.room.create"):
                ["room_version": "12", "additional_creators": ["@bob:example.org"]]
            case let path where path.contains("/m.room.power_levels"): ["users": ["@me:example.org": 50]]
            default: nil
            }
        }
        let parts = try await AccountParts.make(transport.client)
        try await parts.store.updateRoomState(of: room) { [ann] in
            $0.creation = RoomState.Creation(creator: ann, at: Fixtures.date)
        }
        _ = try await memberships(parts).members(of: room)
        let creation = try await parts.store.roomState(of: room).creation
        #expect(creation?.privileged == [ann, MemberID("@bob:example.org")] && creation?.creator == ann)
        await parts.store.close()
    }

    @Test("A member whose removal the server rejects stays")
    func removalDenied() async throws {
        let parts = try await AccountParts.make(FakeTransport(403, #"{"errcode":"M_FORBIDDEN"}"#).client)
        try await addAnn(to: parts)
        await #expect(throws: ChatError.notPermitted) { try await memberships(parts).remove(ann, from: room) }
        #expect(try await parts.store.member(ann, of: room)?.hasLeft == false)
        await parts.store.close()
    }

    @Test("The server's members are stored; roles and permissions derive from the power levels")
    func members() async throws {
        let transport = FakeTransport.responding { request in
            switch request.url.path {
            case let path where path.hasSuffix("/members"):
                [
                    "chunk": [
                        Events.member("@me:example.org", "Me"), Events.member("@ann:example.org", "Ann"),
                        Events.member("@bob:example.org", "Bob", "invite"),
                    ]
                ]
            case let path where path.contains("/m.room.power_levels"):
                ["users": ["@ann:example.org": 100, "@me:example.org": 50], "invite": 50, "state_default": 100]
            case let path where path.contains("/m.room.canonical_alias"): ["alias": "#room:example.org"]
            default: nil
            }
        }
        let parts = try await AccountParts.make(transport.client)
        let members = try await memberships(parts).members(of: room)
        #expect(members.entries.map(\.member.displayName) == ["Ann", "Me", "Bob"])
        #expect(members.entries.map(\.role) == [.administrator, .moderator, .member])
        #expect(members.entries.map(\.isInvited) == [false, false, true])
        #expect(members.entries.map(\.canBeRemoved) == [false, false, true])
        #expect(members.permissions == [.invite, .notifyEveryone] && members.address == "#room:example.org")
        #expect(try await parts.store.member(ann, of: room)?.displayName == "Ann")
        #expect(try await parts.store.member(MemberID("@bob:example.org"), of: room) == nil, "has not joined")
        await #expect(throws: ChatError.notFound) {
            _ = try await memberships(parts).members(of: RoomID("!unknown:example.org"))
        }
        await parts.store.close()
    }
}
