import ChatCore
import ChatStore
import ChatTestSupport
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Synchronization
import Testing
import ToolSupport

@testable import MatrixBackend

/// Encrypted messages around an invitation or a removal whose response, or report by a sync, comes later than they do.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct InvitationKeysTests {
    private let folder = TemporaryFolder()
    private let credentials = MemoryCredentialStore()
    private let devices = KnownDevices()

    @Test(
        "An invited user can read what is sent before a sync reports the invitation, also if its response was lost",
        arguments: [false, true])
    func unreportedInvitation(isLost: Bool) async throws {
        let server = RecordingHomeserver()
        let bob = try ReadingDevice("@bob:example.org", "BOB")
        try server.add(bob, named: "Bob", isMember: false)
        try devices.add(bob.device)
        let account = try await EncryptedAccount.start(
            in: folder, credentials, devices: devices, clock: NonWaitingClock()
        ) { server.answer($0) }
        let (backend, room) = (account.backend, account.room)
        try await account.sync(EncryptedAccount.state)
        // From here on, the members are known.
        try await backend.send(Fixtures.outgoing("Before", transaction: "t1"), to: room)
        await backend.sendingEnds(in: room)
        if isLost {
            server.fail([.unanswered])
            await #expect(throws: ChatError.unreachable) { try await backend.invite("@bob:example.org", to: room) }
        } else {
            try await backend.invite("@bob:example.org", to: room)
        }
        try await backend.send(Fixtures.outgoing("After", transaction: "t2"), to: room)
        await backend.sendingEnds(in: room)
        for message in server.keyMessages { try bob.receive(message) }
        let sent = server.events.compactMap { $0["content"] }
        try #require(sent.count == 2)
        #expect(try bob.read(sent[0]) == nil && bob.read(sent[1])?.text == "After")
        await account.close()
    }

    @Test("A removed member cannot read what is sent before a sync reports that, although the response was lost")
    func unreportedRemoval() async throws {
        let (server, user) = (RecordingHomeserver(), "@bob:example.org")
        let bob = try ReadingDevice(ExactText(user), "BOB")
        try server.add(bob, named: "Bob")
        try devices.add(bob.device)
        let isRemoved = Mutex(false)
        let account = try await EncryptedAccount.start(
            in: folder, credentials, devices: devices, clock: NonWaitingClock()
        ) { request in
            let path = request.url.path
            if path.hasSuffix("/kick") {
                isRemoved.withLock { $0 = true }
                return ["status": 502]
            }
            guard path.hasSuffix("/members"), isRemoved.withLock({ $0 }) else { return server.answer(request) }
            return ["chunk": .array(server.members.filter { $0["state_key"]?.string != user })]
        }
        let (backend, room) = (account.backend, account.room)
        try await account.sync(EncryptedAccount.state + [Events.member(user, "Bob")])
        // From here on, the members are known.
        try await backend.send(Fixtures.outgoing("Before", transaction: "t1"), to: room)
        await backend.sendingEnds(in: room)
        await #expect(throws: ChatError.unreachable) { try await backend.removeMember(MemberID(user), from: room) }
        try await backend.send(Fixtures.outgoing("After", transaction: "t2"), to: room)
        await backend.sendingEnds(in: room)
        for message in server.keyMessages { try bob.receive(message) }
        let sent = server.events.compactMap { $0["content"] }
        try #require(sent.count == 2)
        #expect(try bob.read(sent[0])?.text == "Before" && bob.read(sent[1]) == nil)
        await account.close()
    }

    @Test(
        "Who is removed and joins again before the response arrives can read what is sent, and nobody who stays away",
        arguments: [false, true])
    func rejoinBeforeResponse(rejoins: Bool) async throws {
        let (server, user) = (RecordingHomeserver(), "@bob:example.org")
        let bob = try ReadingDevice(ExactText(user), "BOB")
        try server.add(bob, named: "Bob")
        try devices.add(bob.device)
        let again = Events.event(
            "$again", "m.room.member", ["membership": "join", "displayname": "Bob"], by: user, stateKey: user)
        let account = try await EncryptedAccount.start(
            in: folder, credentials, devices: devices, clock: NonWaitingClock()
        ) { request in
            // Otherwise the list is from before the removal.
            guard rejoins, request.url.path.hasSuffix("/members") else { return server.answer(request) }
            return ["chunk": .array(server.members.filter { $0["state_key"]?.string != user } + [again])]
        }
        let (backend, room) = (account.backend, account.room)
        try await account.sync(EncryptedAccount.state + [Events.member(user, "Bob")])
        // From here on, the members are known.
        try await backend.send(Fixtures.outgoing("Before", transaction: "t1"), to: room)
        await backend.sendingEnds(in: room)
        account.server.delay("/kick")
        let removal = Task { try await backend.removeMember(MemberID(user), from: room) }
        try await account.server.receives("/kick")
        if rejoins {
            // A sync that has reached the keys, and the store only after the response.
            let left = Events.event("$left", "m.room.member", ["membership": "leave"], stateKey: user)
            var changed = RoomUpdate(id: room)
            changed.timeline = [left, again].compactMap(MatrixEvent.init)
            var update = SyncUpdate(token: "again")
            update.rooms = [changed]
            update.crypto = CryptoSync(kind: .plain)
            try await backend.keys.take(update)
        }
        account.server.delay(nil)
        try await removal.value
        try await backend.send(Fixtures.outgoing("After", transaction: "t2"), to: room)
        await backend.sendingEnds(in: room)
        for message in server.keyMessages { try bob.receive(message) }
        let sent = server.events.compactMap { $0["content"] }
        try #require(sent.count == 2)
        #expect(try bob.read(sent[0])?.text == "Before")
        #expect(try bob.read(sent[1])?.text == (rejoins ? "After" : nil))
        await account.close()
    }

    @Test("What comes before the response to the user's own join can be read, and stays so once it has come")
    func lateJoinResponse() async throws {
        let room = RoomID("!new:example.org")
        let account = try await EncryptedAccount.start(in: folder, credentials, devices: devices) { request in
            request.url.path.contains("/join/") ? ["room_id": .string(room.rawValue)] : nil
        }
        let ann = try await account.peer()
        let (backend, server, store) = (account.backend, account.server, account.store)
        func text(_ id: String, _ body: String) throws -> JSONValue {
            try ann.event(id, ["msgtype": "m.text", "body": .string(body)], room: room)
        }
        func sync(_ token: String, _ events: [JSONValue]) async throws {
            let joined: JSONValue = .object([room.rawValue: ["timeline": ["events": .array(events)]]])
            server.sync(["next_batch": .string(token), "rooms": ["join": joined]])
            try await server.waitUntilConsumed()
        }
        func texts() async throws -> [String] {
            try await store.messages(in: room, before: .max, limit: 10).messages
                .filter { $0.event == nil }.map(\.text)
        }

        let own = EncryptedAccount.user.rawValue
        let invitation: [JSONValue] = [
            [
                "type": "m.room.encryption", "state_key": "", "sender": "@ann:example.org",
                "content": ["algorithm": "m.megolm.v1.aes-sha2"],
            ],
            [
                "type": "m.room.member", "state_key": .string(own), "sender": "@ann:example.org",
                "content": ["membership": "invite"],
            ],
        ]
        let invited: JSONValue = .object([room.rawValue: ["invite_state": ["events": .array(invitation)]]])
        server.sync(["next_batch": "invited", "rooms": ["invite": invited]])
        try await server.waitUntilConsumed()
        #expect(try await store.invitations().map(\.room) == [room])

        server.hold("/join/")
        let accepting = Task { try await backend.accept(room) }
        while !server.paths.contains(where: { $0.contains("/join/") }) { try await Task.sleep(for: .milliseconds(5)) }
        // The key comes even before the room does.
        let key = try ann.key(in: room)
        server.sync(["next_batch": "key", "to_device": ["events": [key]]])
        let state = EncryptedAccount.state.filter { $0["type"] != "m.room.member" }
        let messages = [try text("$before", "While invited"), try text("$after", "After the join")]
        let members = [Events.member("@ann:example.org", "Ann"), Events.member(own, "Me")]
        try await sync("joined", state + [members[0], messages[0], members[1], messages[1]])
        #expect(try await texts() == ["While invited", "After the join"])

        server.hold(nil)
        try await accepting.value
        try await sync("later", [try text("$later", "Later")])
        #expect(try await texts() == ["While invited", "After the join", "Later"])
        #expect(try await store.invitations().isEmpty)
        #expect(try await backend.isEncrypted(room))
        await account.close()
    }
}
