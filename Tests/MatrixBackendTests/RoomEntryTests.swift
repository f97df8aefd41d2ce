import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Synchronization
import Testing

@testable import MatrixBackend

/// Joining and leaving rooms, and the encryption of rooms whose state is unknown.
@Suite(.timeLimit(.minutes(10))) struct RoomEntryTests {
    private let room = AccountParts.room
    private let partner = "@ann:example.org"

    private func entry(_ parts: AccountParts) -> RoomEntry {
        RoomEntry(
            client: parts.client, context: parts.context, writer: parts.writer, entered: EnteredRooms(),
            directRooms: DirectRoomList(client: parts.client, context: parts.context, store: parts.store),
            keys: parts.keys)
    }

    private func invite(
        _ parts: AccountParts, to invitation: RoomID, by inviter: String = "@ann:example.org"
    ) async throws {
        var batch = SyncBatch()
        batch.invitations = [
            Invitation(room: invitation, inviter: MemberID(inviter), isDirect: true, receivedAt: Fixtures.date)
        ]
        try await parts.writer.write(batch)
    }

    @Test("An accepted invitation to a direct chat becomes a room and an entry in the list of direct chats")
    func accept() async throws {
        let invitation = RoomID("!new:example.org")
        let transport = FakeTransport.responding { request in
            if request.url.path.contains("/join/") { return ["room_id": .string(invitation.rawValue)] }
            return request.method == .put ? [:] : nil
        }
        let parts = try await AccountParts.make(transport.client)
        try await invite(parts, to: invitation)
        try await entry(parts).accept(invitation)
        #expect(parts.writer.invitations.value.isEmpty)
        #expect(parts.context.directRooms.rooms(with: partner) == [invitation])
        #expect(try await parts.store.room(invitation).kind == .direct)
        #expect(transport.requests.contains { $0.method == .put && $0.url.path.hasSuffix("/m.direct") })
        await parts.store.close()
    }

    @Test("A space whose user joins it again is not stored as a room, and one that was is removed")
    func knownSpace() async throws {
        let space = RoomID("!space:example.org")
        let transport = FakeTransport.responding { request in
            request.url.path.contains("/join/") ? ["room_id": .string(space.rawValue)] : nil
        }
        let parts = try await AccountParts.make(transport.client)
        var known = RoomBatch(id: space, createdAt: Fixtures.date)
        known.isSpace = true
        try await parts.writer.write(SyncBatch(rooms: [known]))
        for _ in 1...2 {
            await #expect(throws: ChatError.spaceUnsupported) {
                _ = try await entry(parts).join("#space:example.org")
            }
            #expect(try await !parts.store.hasRoom(space))
            // As earlier versions did.
            try await parts.writer.write(SyncBatch(rooms: [RoomBatch(id: space, createdAt: Fixtures.date)]))
        }
        await parts.store.close()
    }

    @Test("An invitation to a space is not accepted and opens no chat")
    func spaceInvitation() async throws {
        let invitation = RoomID("!space:example.org")
        let transport = FakeTransport(200, #"{"room_id":"!space:example.org"}"#)
        let parts = try await AccountParts.make(transport.client)
        var batch = SyncBatch()
        batch.invitations = [Invitation(room: invitation, receivedAt: Fixtures.date)]
        batch.invitations[0].isSpace = true
        try await parts.writer.write(batch)
        await #expect(throws: ChatError.spaceUnsupported) { try await entry(parts).accept(invitation) }
        #expect(try await !parts.store.hasRoom(invitation))
        #expect(parts.writer.invitations.value.map(\.room) == [invitation] && transport.requests.isEmpty)
        await parts.store.close()
    }

    @Test("A withdrawn invitation is removed", arguments: [true, false])
    func withdrawn(accepts: Bool) async throws {
        let invitation = RoomID("!gone:example.org")
        let parts = try await AccountParts.make(FakeTransport(403, #"{"errcode":"M_FORBIDDEN"}"#).client)
        try await invite(parts, to: invitation)
        let entry = entry(parts)
        await #expect(throws: ChatError.notFound) {
            if accepts { try await entry.accept(invitation) } else { try await entry.decline(invitation) }
        }
        #expect(parts.writer.invitations.value.isEmpty)
        await parts.store.close()
    }

    @Test(
        "An invitation stays if the server does not say that it was withdrawn",
        arguments: [(403, "M_CONSENT_NOT_GIVEN"), (403, "M_RESOURCE_LIMIT_EXCEEDED"), (404, "M_UNRECOGNIZED")])
    func notWithdrawn(status: Int, code: String) async throws {
        let invitation = RoomID("!kept:example.org")
        let parts = try await AccountParts.make(FakeTransport(status, #"{"errcode":"\#(code)"}"#).client)
        try await invite(parts, to: invitation)
        await #expect(throws: ChatError.self) { try await entry(parts).accept(invitation) }
        await #expect(throws: ChatError.self) { try await entry(parts).decline(invitation) }
        await #expect(throws: ChatError.self) { try await entry(parts).leave(room) }
        #expect(parts.writer.invitations.value.map(\.room) == [invitation])
        #expect(try await parts.store.hasRoom(room))
        await parts.store.close()
    }

    @Test("An invitation to a room that the server does not know can be declined, but not accepted")
    func unknownInvitation() async throws {
        let invitation = RoomID("!gone:example.org")
        let parts = try await AccountParts.make(FakeTransport(404, #"{"errcode":"M_UNKNOWN"}"#).client)
        try await invite(parts, to: invitation)
        // Here it means that no server is known through which the room could be joined.
        await #expect(throws: ChatError.notFound) { try await entry(parts).accept(invitation) }
        #expect(parts.writer.invitations.value.map(\.room) == [invitation])
        try await entry(parts).decline(invitation)
        #expect(parts.writer.invitations.value.isEmpty)
        await parts.store.close()
    }

    @Test("A room that the server does not know is left", arguments: ["M_NOT_FOUND", "M_UNKNOWN"])
    func leaveUnknownRoom(code: String) async throws {
        let parts = try await AccountParts.make(FakeTransport(404, #"{"errcode":"\#(code)"}"#).client)
        let entry = entry(parts)
        entry.entered.note(room)
        try await entry.leave(room)
        #expect(try await !parts.store.hasRoom(room))
        #expect(!entry.entered.isNewer(room), "another invitation counts")
        await parts.store.close()
    }

    @Test("A room is left only if the server no longer lists the user as joined", arguments: ["join", "ban"])
    func leave(membership: String) async throws {
        let transport = FakeTransport.responding { request in
            request.method == .post
                ? ["errcode": "M_FORBIDDEN", "status": 403] : ["membership": .string(membership)]
        }
        let parts = try await AccountParts.make(transport.client)
        let entry = entry(parts)
        if membership == "join" {
            await #expect(throws: ChatError.notPermitted) { try await entry.leave(room) }
        } else {
            try await entry.leave(room)
        }
        #expect(try await parts.store.hasRoom(room) == (membership == "join"))
        await parts.store.close()
    }

    @Test("A direct chat is reused unless one of the two users has left it", arguments: ["join", "leave"])
    func directChat(membership: String) async throws {
        let transport = FakeTransport.responding { [room, partner] request in
            if request.url.path.hasSuffix("/m.direct") {
                return request.method == .get ? .object([partner: [.string(room.rawValue)]]) : [:]
            }
            if request.url.path.contains("/m.room.member/") { return ["membership": .string(membership)] }
            return request.url.path.hasSuffix("/createRoom") ? ["room_id": "!new:example.org"] : nil
        }
        let parts = try await AccountParts.make(transport.client)
        let chats = DirectChats(
            client: parts.client, store: parts.store, ownUserID: AccountParts.own,
            list: DirectRoomList(client: parts.client, context: parts.context, store: parts.store),
            invitations: parts.writer.invitations, entry: entry(parts), keys: parts.keys,
            privacy: PrivacyPreference(Privacy(encryptsDirectChats: false)))
        let opened = try await chats.open(with: partner)
        #expect(opened == (membership == "join" ? room : RoomID("!new:example.org")))
        #expect(try await parts.store.hasRoom(opened))
        await #expect(throws: ChatError.notFound) { try await chats.open(with: AccountParts.own.rawValue) }
        await parts.store.close()
    }

    private func chats(_ parts: AccountParts) -> DirectChats {
        DirectChats(
            client: parts.client, store: parts.store, ownUserID: AccountParts.own,
            list: DirectRoomList(client: parts.client, context: parts.context, store: parts.store),
            invitations: parts.writer.invitations, entry: entry(parts), keys: parts.keys,
            privacy: PrivacyPreference(Privacy(encryptsDirectChats: false)))
    }

    @Test("A direct chat that was upgraded is reused only if the list has no other", arguments: [true, false])
    func upgradedDirectChat(hasNext: Bool) async throws {
        let next = RoomID("!next:example.org")
        let transport = FakeTransport.responding { [room, partner] request in
            if request.url.path.hasSuffix("/m.direct") {
                let listed = hasNext ? [room, next] : [room]
                return .object([partner: .array(listed.map { .string($0.rawValue) })])
            }
            return request.url.path.contains("/m.room.member/") ? ["membership": "join"] : nil
        }
        let parts = try await AccountParts.make(transport.client)
        let me = Member(id: AccountParts.own, displayName: "Me", kind: .own)
        let batch = RoomBatch(id: next, createdAt: Fixtures.date, members: [me])
        _ = try await parts.store.apply(SyncBatch(rooms: [batch]))
        try await parts.store.updateRoomState(of: room) {
            $0.succession.next = "https://matrix.to/#/!next:example.org"
        }
        #expect(try await chats(parts).open(with: partner) == (hasNext ? next : room))
        await parts.store.close()
    }

    @Test(
        "A direct chat is not reused if its partner never was a member, but if the server does not answer",
        arguments: [404, 502])
    func partnerWithoutMembership(status: Int) async throws {
        let transport = FakeTransport.responding { [room, partner] request in
            if request.url.path.hasSuffix("/m.direct") {
                return request.method == .get ? .object([partner: [.string(room.rawValue)]]) : [:]
            }
            if request.url.path.contains("/m.room.member/") {
                return ["errcode": "M_NOT_FOUND", "status": .integer(Int64(status))]
            }
            return request.url.path.hasSuffix("/createRoom") ? ["room_id": "!new:example.org"] : nil
        }
        let parts = try await AccountParts.make(transport.client)
        #expect(try await chats(parts).open(with: partner) == (status == 404 ? RoomID("!new:example.org") : room))
        await parts.store.close()
    }

    @Test("Of a user whose ID looks the same, neither the direct chat nor the invitation is used")
    func similarPartner() async throws {
        let (user, other) = ("@\u{E9}:example.org", "@e\u{301}:example.org")
        let transport = FakeTransport.responding { [room] request in
            if request.url.path.hasSuffix("/m.direct") { return .object([other: [.string(room.rawValue)]]) }
            // Without an answer, the room would be used.
            if request.url.path.contains("/m.room.member/") { return ["errcode": "M_UNKNOWN", "status": 502] }
            if request.url.path.contains("/join/") { return ["room_id": "!theirs:example.org"] }
            return request.url.path.hasSuffix("/createRoom") ? ["room_id": "!new:example.org"] : nil
        }
        let parts = try await AccountParts.make(transport.client)
        try await invite(parts, to: RoomID("!theirs:example.org"), by: other)
        #expect(try await chats(parts).open(with: user) == RoomID("!new:example.org"))
        #expect(parts.writer.invitations.value.map(\.inviter) == [MemberID(other)])
        await parts.store.close()
    }

    @Test("A direct chat is listed even if the task that adds it is canceled")
    func canceledAddition() async throws {
        let listed = Mutex<JSONValue>([:])
        let transport = FakeTransport.responding { request in
            guard case .json(let body) = request.body else { return listed.withLock { $0 } }
            listed.withLock { $0 = (try? JSONValue(parsing: body)) ?? .null }
            return [:]
        }
        let parts = try await AccountParts.make(transport.client)
        let list = DirectRoomList(client: parts.client, context: parts.context, store: parts.store)
        let adding = Task { [room, partner] in
            while !Task.isCancelled { await Task.yield() }
            await list.add(room, with: partner)
        }
        adding.cancel()
        await adding.value
        #expect(listed.withLock { $0 } == .object([partner: [.string(room.rawValue)]]))
        await parts.store.close()
    }

    @Test("A direct chat that the server could not list is opened again, once for all requests, and listed later.")
    func unlistedDirectChat() async throws {
        let listed = Mutex<JSONValue>([:])
        let created = Mutex(0)
        let isFailing = Mutex(true)
        let transport = FakeTransport.responding { request in
            if request.url.path.hasSuffix("/m.direct") {
                guard case .json(let body) = request.body else { return listed.withLock { $0 } }
                if isFailing.withLock({ $0 }) { return ["errcode": "M_UNKNOWN", "status": 500] }
                listed.withLock { $0 = (try? JSONValue(parsing: body)) ?? .null }
                return [:]
            }
            if request.url.path.contains("/m.room.member/") { return ["membership": "invite"] }
            guard request.url.path.hasSuffix("/createRoom") else { return nil }
            let number = created.withLock { count in
                count += 1
                return count
            }
            return ["room_id": .string("!new\(number):example.org")]
        }
        let parts = try await AccountParts.make(transport.client)
        let list = DirectRoomList(client: parts.client, context: parts.context, store: parts.store)
        let chats = DirectChats(
            client: parts.client, store: parts.store, ownUserID: AccountParts.own, list: list,
            invitations: parts.writer.invitations, entry: entry(parts), keys: parts.keys,
            privacy: PrivacyPreference(Privacy(encryptsDirectChats: false)))
        let opened = try await withThrowingTaskGroup(of: RoomID.self) { group in
            for _ in 1...3 { group.addTask { [partner] in try await chats.open(with: partner) } }
            return try await group.reduce(into: Set<RoomID>()) { $0.insert($1) }
        }
        #expect(opened == [RoomID("!new1:example.org")])
        #expect(listed.withLock { $0 } == [:])
        // The server's list must not make a group of it, neither now nor after a restart.
        var batch = SyncBatch()
        var update = SyncUpdate(token: "t")
        update.direct = .object(["@bo:example.org": ["!other:example.org"]])
        parts.context.apply(update, storing: &batch)
        #expect(batch.directRooms == [RoomID("!new1:example.org"), RoomID("!other:example.org")])
        let restored = try await AccountData(from: parts.store)
        #expect(restored.directRooms.rooms(with: partner) == [RoomID("!new1:example.org")])
        isFailing.withLock { $0 = false }
        // As after the next answer of the server.
        await list.sendUnsent()
        #expect(parts.context.unlistedDirectRooms == DirectRooms())
        #expect(try await AccountData(from: parts.store).unlistedDirectRooms == DirectRooms())
        #expect(listed.withLock { $0 } == .object([partner: ["!new1:example.org"]]))
        await parts.store.close()
    }

    @Test(
        "A chat whose mark was lost is reused, but not what may be a group",
        arguments: [(2, []), (3, []), (nil, []), (2, ["@eve:example.org"])] as [(Int?, [String])])
    func unmarkedChat(joined: Int?, others: [String]) async throws {
        let transport = FakeTransport.responding { request in
            if request.url.path.hasSuffix("/m.direct") { return [:] }
            if request.url.path.contains("/m.room.member/") { return ["membership": "join"] }
            return request.url.path.hasSuffix("/createRoom") ? ["room_id": "!new:example.org"] : nil
        }
        let parts = try await AccountParts.make(transport.client)
        var batch = AccountParts.batch()
        var state = RoomState.unencrypted
        state.joinedCount = joined
        state.heroes = ([partner] + others).map { MemberID($0) }
        batch.state = state
        batch.members = [Member(id: MemberID(partner), displayName: "Ann", kind: .person)]
        _ = try await parts.store.apply(SyncBatch(rooms: [batch]))
        let chats = DirectChats(
            client: parts.client, store: parts.store, ownUserID: AccountParts.own,
            list: DirectRoomList(client: parts.client, context: parts.context, store: parts.store),
            invitations: parts.writer.invitations, entry: entry(parts), keys: parts.keys,
            privacy: PrivacyPreference(Privacy(encryptsDirectChats: false)))
        let isChat = joined == 2 && others.isEmpty
        #expect(try await chats.open(with: partner) == (isChat ? room : RoomID("!new:example.org")))
        await parts.store.close()
    }

    @Test("Direct chats that are added at once are all listed")
    func directChatsAddedAtOnce() async throws {
        let listed = Mutex<JSONValue>([:])
        let transport = FakeTransport.responding { _ in
            try await Task.sleep(for: .milliseconds(20))
        } _: { request in
            guard case .json(let body) = request.body else { return listed.withLock { $0 } }
            listed.withLock { $0 = (try? JSONValue(parsing: body)) ?? .null }
            return [:]
        }
        let parts = try await AccountParts.make(transport.client)
        let list = DirectRoomList(client: parts.client, context: parts.context, store: parts.store)
        await withTaskGroup { group in
            for number in 1...3 {
                group.addTask { await list.add(RoomID("!\(number):example.org"), with: "@\(number):example.org") }
            }
        }
        #expect(listed.withLock { $0.object?.count } == 3)
        await parts.store.close()
    }

    @Test("A room that is stored already is noted as joined, too", arguments: [true, false])
    func joinAgain(accepts: Bool) async throws {
        let transport = FakeTransport.responding { [room] request in
            request.url.path.contains("/join/") ? ["room_id": .string(room.rawValue)] : nil
        }
        let parts = try await AccountParts.make(transport.client)
        let entry = entry(parts)
        if accepts { try await entry.accept(room) } else { _ = try await entry.join(room.rawValue) }
        #expect(entry.entered.isNewer(room))
        await parts.store.close()
    }

    @Test("A room that the user was removed from right after joining it is left once the server confirms that")
    func doubtfulRoom() async throws {
        let membership = Mutex("join")
        let transport = FakeTransport.responding { request in
            request.url.path.hasSuffix("/joined_rooms")
                ? ["joined_rooms": []] : ["membership": .string(membership.withLock { $0 })]
        }
        let parts = try await AccountParts.make(transport.client)
        let left = parts.leftRooms()
        for isLeft in [false, true] {
            membership.withLock { $0 = isLeft ? "leave" : "join" }
            await left.noteDoubtful([room])
            await left.prune()
            #expect(try await parts.store.hasRoom(room) != isLeft)
        }
        let asked = transport.requests.count
        await left.prune()
        #expect(transport.requests.count == asked, "asked once")
        await parts.store.close()
    }

    @Test("If the server rejects the question which rooms were left, it is asked again after the next start")
    func rejectedPruning() async throws {
        let isRejecting = Mutex(true)
        let transport = FakeTransport.responding { request in
            if isRejecting.withLock({ $0 }) { return ["errcode": "M_RESOURCE_LIMIT_EXCEEDED", "status": 403] }
            return request.url.path.hasSuffix("/joined_rooms") ? ["joined_rooms": []] : ["membership": "leave"]
        }
        let parts = try await AccountParts.make(transport.client)
        let left = parts.leftRooms()
        try await left.noteStored()
        for _ in 1...2 { await left.prune() }
        #expect(transport.requests.count == 1, "not with each sync")
        isRejecting.withLock { $0 = false }
        let next = parts.leftRooms()
        try await next.recallStored()
        await next.prune()
        #expect(try await !parts.store.hasRoom(room))
        await parts.store.close()
    }

    @Test("Rooms missing from the server's list are removed only if it confirms each", arguments: ["join", "leave"])
    func leftRooms(membership: String) async throws {
        let transport = FakeTransport.responding { request in
            request.url.path.hasSuffix("/joined_rooms")
                ? ["joined_rooms": []] : ["membership": .string(membership)]
        }
        let parts = try await AccountParts.make(transport.client)
        let left = parts.leftRooms()
        await left.prune()
        #expect(transport.requests.isEmpty, "no sync has started over")
        try await left.noteStored()
        // Simulates a restart.
        let next = parts.leftRooms()
        try await next.recallStored()
        await next.prune()
        #expect(try await parts.store.hasRoom(room) == (membership == "join"))
        let asked = transport.requests.count
        await next.prune()
        #expect(transport.requests.count == asked, "asked once")
        await parts.store.close()
    }

    @Test("Unknown encryption is requested from the server before anything is sent, and stays on")
    func encryption() async throws {
        let transport = FakeTransport.responding {
            $0.url.path.contains("/m.room.encryption") ? ["algorithm": "x"] : nil
        }
        let parts = try await AccountParts.make(transport.client)
        let status = SyncStatus()
        let encryption = RoomEncryption(
            client: parts.client, store: parts.store, keys: parts.keys, syncStatus: status, gate: parts.writer.gate)
        status.hasCaughtUp = true
        #expect(try await encryption.way(into: room) == .clear && transport.requests.isEmpty)
        #expect(try await !encryption.isOn(in: room))
        status.hasCaughtUp = false
        #expect(try await encryption.way(into: room) == .sealed && transport.requests.count == 1)
        #expect(try await encryption.isOn(in: room))
        #expect(try await encryption.isKnownOn(in: room))
        status.hasCaughtUp = true
        #expect(try await encryption.way(into: room) == .sealed && transport.requests.count == 1)
        await parts.store.close()
    }

    @Test("No preview is requested for a link in an encrypted room")
    func linkPreview() async throws {
        let transport = FakeTransport.responding { _ in ["og:title": "A page"] }
        let parts = try await AccountParts.make(transport.client)
        let status = SyncStatus()
        let previews = LinkPreviews(
            client: parts.client, store: parts.store,
            encryption: RoomEncryption(
                client: parts.client, store: parts.store, keys: parts.keys, syncStatus: status,
                gate: parts.writer.gate))
        status.hasCaughtUp = true
        #expect(try await previews.preview(of: "https://a.example", in: room)?.title == "A page")
        let asked = transport.requests.count
        try await parts.store.updateRoomState(of: room) { $0.encryption = .on }
        #expect(try await previews.preview(of: "https://b.example", in: room) == nil)
        #expect(transport.requests.count == asked)
        await parts.store.close()
    }
}
