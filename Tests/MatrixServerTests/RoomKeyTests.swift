import ChatCore
import ChatStore
import ChatTestSupport
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Testing

@testable import MatrixBackend

/// This device decrypts another client's messages, over a real homeserver.
@Suite(
    .enabled(if: !MatrixPeer.command.isEmpty, "no peer: build-aux/ratchets-peers --matrix installs it"), .serialized,
    .timeLimit(.minutes(10))
)
struct RoomKeyTests {
    /// Creates a user with keys.
    /// - Parameter hasIdentity: whether to set up encryption, with a backup.
    static func person(
        _ name: String, sliding: Bool, hasIdentity: Bool = true
    ) async throws -> (MatrixUser, KeyCredential) {
        let user = try await MatrixUser.make(name, sliding: sliding)
        let credential = KeyCredential(account: user.session.user.rawValue, place: MemoryCredentialStore())
        try await open(user, credential)
        if hasIdentity { _ = try await user.backend.createIdentity(password: "password") }
        return (user, credential)
    }

    static func open(_ user: MatrixUser, _ credential: KeyCredential) async throws {
        await user.backend.openKeys(of: user.session.device, credential: credential)
        #expect(user.backend.keys.condition == .on)
        await user.backend.reconnect()
    }

    /// Waits until the server has the keys of the user's device.
    static func untilPublished(_ user: MatrixUser) async throws {
        let name = user.session.user.rawValue
        while true {
            let answer = try await user.client.call(
                .post, ["client", "v3", "keys", "query"], body: ["device_keys": .object([name: []])])
            if answer["device_keys"]?[name]?[user.session.device] != nil { return }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Returns the text of an encrypted event, once its key has arrived.
    private static func text(of event: MessageID, in room: RoomID, for user: MatrixUser) async throws -> String? {
        while true {
            let found = try await user.client.context(of: event, in: room, limit: 0).events.first { $0.id == event }
            let sealed = try #require(found)
            #expect(sealed.type == "m.room.encrypted")
            let machine = try #require(await user.backend.keys.machine)
            let event = SealedEvent(
                room: ExactText(room.rawValue), event: ExactText(sealed.id.rawValue),
                sender: ExactText(sealed.sender.rawValue), content: sealed.content)
            switch try await machine.read([event])[0] {
            case .success(let payload): return payload.content["body"]?.string
            case .failure(.noKey), .failure(.unknownSender): try await Task.sleep(for: .milliseconds(50))
            case .failure(let seal): throw seal
            }
        }
    }

    /// Creates an encrypted room with another client in it.
    /// - Parameter isConfirmed: whether the other client's device is confirmed. matrix-nio creates no identities, so
    ///   the test creates one for its user.
    static func room(
        with ann: MatrixUser, sliding: Bool, isConfirmed: Bool = true, client: PeerClient = .nio
    ) async throws -> (RoomID, MatrixPeer) {
        let bob = try await MatrixUser.make("bob", sliding: sliding)
        await bob.close()
        try await untilPublished(ann)
        let peer = try await MatrixPeer(bob.session.user, server: bob.server.url, client: client)
        if isConfirmed, client == .nio { try await confirm(bob) }
        let room = try await ann.backend.createRoom(named: "Sealed")
        try await ann.waitForRoom(room)
        _ = try await ann.client.call(
            .put, ["client", "v3", "rooms", room.rawValue, "state", "m.room.encryption", ""],
            body: ["algorithm": "m.megolm.v1.aes-sha2"])
        try await ann.backend.invite(bob.session.user.rawValue, to: room)
        try await peer.ask("join", .string(room.rawValue))
        return (room, peer)
    }

    /// Creates an identity for a user, and confirms all of the user's devices that have keys.
    static func confirm(_ user: MatrixUser) async throws {
        let transport = CurlTransport()
        defer { transport.close() }
        let client = MatrixClient(server: user.server.url, token: user.session.token, transport: transport)
        let name = user.session.user
        let identity = try TestIdentity(ExactText(name.rawValue))
        _ = try await InteractiveAuth(client: client, user: name).call(
            .post, ["client", "v3", "keys", "device_signing", "upload"],
            body: [
                "master_key": identity.masterKey(), "self_signing_key": identity.selfSigningKey,
                "user_signing_key": identity.userSigningKey,
            ], password: "password")
        let answer = try await client.call(
            .post, ["client", "v3", "keys", "query"], body: ["device_keys": .object([name.rawValue: []])])
        let devices = try #require(answer["device_keys"]?[name.rawValue]?.object)
        #expect(!devices.isEmpty)
        let signed = try devices.mapValues { device -> JSONValue in
            var device = try #require(device.object)
            device["unsigned"] = nil
            return .object(try identity.confirming(device))
        }
        let failures = try await client.call(
            .post, ["client", "v3", "keys", "signatures", "upload"],
            body: .object([name.rawValue: .object(signed)]))["failures"]
        #expect(failures?.object?.isEmpty ?? true)
    }

    @Test("Another client's messages are decrypted in the timeline, and stay readable", arguments: [true, false])
    func timeline(_ sliding: Bool) async throws {
        var (ann, credential) = try await Self.person("ann", sliding: sliding)
        let (room, peer) = try await Self.room(with: ann, sliding: sliding)
        let first = try await peer.say("Größe", in: room)
        try await peer.send(
            [
                "msgtype": "m.text", "body": "Answer",
                "m.relates_to": ["m.in_reply_to": ["event_id": .string(first.rawValue)]],
            ],
            in: room)
        try await peer.send(
            [
                "msgtype": "m.text", "body": "* Größer", "m.new_content": ["msgtype": "m.text", "body": "Größer"],
                "m.relates_to": ["rel_type": "m.replace", "event_id": .string(first.rawValue)],
            ], in: room)
        let size = 300_001
        try await peer.ask("send_file", .string(room.rawValue), "data.bin", .integer(Int64(size)))
        let isRead: ([Message]) -> Bool = { all in
            all.map(\.text) == ["Größer", "Answer", ""] && all.last?.attachments.count == 1
        }
        var messages = try await ann.messages(in: room, where: isRead)
        #expect(messages[0].editedAt != nil && messages[1].replyTo == first && messages[2].kind == .file)
        let file = try #require(messages[2].attachments.first)
        #expect(file.name == "data.bin" && file.isEncrypted)
        let bytes = try Data(contentsOf: await ann.backend.content(of: file))
        #expect(bytes == Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }))
        #expect(try await ann.store.search(SearchQuery(text: "größer")).messages.map(\.id) == [first])

        ann = try await ann.restarted(open: credential)
        messages = try await ann.messages(in: room, where: isRead)
        #expect(try Data(contentsOf: await ann.backend.content(of: file)) == bytes)
        await ann.close()
    }

    /// Until the keys are opened, a sliding sync leaves room keys on the server.
    @Test("A message is sealed until its key arrives, and then opened in its place")
    func lateKey() async throws {
        var (ann, credential) = try await Self.person("ann", sliding: true)
        let (room, peer) = try await Self.room(with: ann, sliding: true)
        try await peer.say("First", in: room)
        try await ann.messages(in: room) { $0.map(\.text) == ["First"] }
        try await peer.ask("rotate", .string(room.rawValue))
        ann = try await ann.restarted()
        let sealed = try await peer.say("While locked", in: room)
        try await peer.send(
            [
                "msgtype": "m.text", "body": "* x",
                "m.new_content": ["msgtype": "m.text", "body": "Edited while locked"],
                "m.relates_to": ["rel_type": "m.replace", "event_id": .string(sealed.rawValue)],
            ], in: room)
        let before = try await ann.messages(in: room) { $0.last?.id == sealed }
        #expect(before.last?.seal == .keysUnavailable && before.first?.text == "First")
        try await Self.open(ann, credential)
        let after = try await ann.messages(in: room) { $0.last?.text == "Edited while locked" }
        #expect(after.map(\.position) == before.map(\.position))
        ann = try await ann.restarted(open: credential)
        try await ann.messages(in: room) { $0.map(\.text) == ["First", "Edited while locked"] }
        // Another device lacks the keys of messages from before its sign-in.
        let other = try await ann.elsewhere(sliding: true)
        await ann.close()
        try await Self.open(other, KeyCredential(account: credential.account, place: MemoryCredentialStore()))
        try await other.waitForRoom(room)
        try await other.messages(in: room) { $0.map(\.seal) == [.beforeSignIn, .beforeSignIn] }
        await other.close()
    }

    @Test(arguments: [true, false]) func keysArriveAcrossRestarts(_ sliding: Bool) async throws {
        var (ann, credential) = try await Self.person("ann", sliding: sliding)
        let (room, peer) = try await Self.room(with: ann, sliding: sliding)
        var said: [MessageID: String] = [:]
        for number in 0..<3 {
            let text = "größer \(number)"
            let id = try await peer.say(text, in: room)
            #expect(try await Self.text(of: id, in: room, for: ann) == text)
            said[id] = text
            try await peer.ask("rotate", .string(room.rawValue))
        }
        // Sent while the account is offline.
        await ann.backend.close()
        let away = try await peer.say("while away", in: room)
        ann = try await ann.restarted(open: credential)
        #expect(try await Self.text(of: away, in: room, for: ann) == "while away")
        for (id, text) in said { #expect(try await Self.text(of: id, in: room, for: ann) == text) }
        credential = KeyCredential(account: credential.account, place: MemoryCredentialStore())
        #expect(try await ann.restarted(open: credential, expecting: .off(.credentialLost)).isCaughtUp())
    }
}

extension MatrixUser {
    /// Simulates a restart that opens the keys.
    func restarted(
        open credential: KeyCredential, expecting condition: EncryptionCondition = .on
    ) async throws -> MatrixUser {
        let user = try await restarted(with: credential)
        #expect(user.backend.keys.condition == condition)
        return user
    }

    func isCaughtUp() async throws -> Bool {
        while !backend.syncStatus.hasCaughtUp { try await Task.sleep(for: .milliseconds(20)) }
        await close()
        return true
    }
}
