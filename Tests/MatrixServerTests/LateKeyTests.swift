import ChatCore
import ChatTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Testing

@testable import MatrixBackend
@testable import MatrixCrypto

/// Other clients on devices that are confirmed only after a message was sent: they do not receive its key then, and
/// decrypt it with a key from a backup or not at all. Over a real homeserver.
@Suite(.serialized, .timeLimit(.minutes(10))) struct LateKeyTests {
    private func device(of user: MatrixUser) async throws -> MatrixPeer {
        try await MatrixPeer(
            user.session.user, server: user.server.url, client: .sdk, options: ["--restored"])
    }

    /// The index of the first message whose key was shared, for each device of a user.
    private func shares(with user: MemberID, in room: RoomID, by ann: MatrixUser) async throws -> [String: UInt32] {
        let machine = try #require(await ann.backend.keys.machine)
        let key = OutboundRoom.key(ExactText(room.rawValue), ExactText(user.rawValue))
        guard let record = try await machine.storage.cryptoRecord(key) else { return [:] }
        let shares = try JSONValue(parsing: record.value).array?.first?.object ?? [:]
        return shares.compactMapValues { $0["index"]?.integer.flatMap { UInt32(exactly: $0) } }
    }

    private func room(of ann: MatrixUser) async throws -> RoomID {
        let room = try await ann.backend.createRoom(RoomRequest(name: "Sealed", isEncrypted: true))
        try await ann.waitForRoom(room)
        try await ann.untilEncrypted(room)
        return room
    }

    /// Sends a message, which must use the same session as an earlier one.
    private func say(_ text: String, after earlier: MessageID, by ann: MatrixUser, in room: RoomID) async throws
        -> MessageID
    {
        let said = try await ann.say(text, in: room).id
        var sessions: Set<String> = []
        for id in [earlier, said] {
            sessions.insert(try #require(try await ann.client.event(id, in: room)?.content["session_id"]?.string))
        }
        #expect(sessions.count == 1)
        return said
    }

    @Test(
        "The user's device that is confirmed late decrypts earlier messages with the backup's key",
        .enabled(if: !PeerClient.sdk.command.isEmpty, "no peer: build-aux/ratchets-peers --sdk installs it"),
        arguments: [true, false])
    func ownDevice(_ byRecoveryKey: Bool) async throws {
        let (ann, _) = try await RoomKeyTests.person("ann", sliding: true, hasIdentity: false)
        let key = try await ann.backend.createIdentity(password: "password")
        let room = try await room(of: ann)
        let peer = try await device(of: ann)
        let id = try #require(try await peer.ask("join", .string(room.rawValue)).string)
        let early = try await ann.say("Early", in: room).id
        #expect(try await peer.read(early, in: room) == nil)
        #expect(try await shares(with: ann.session.user, in: room, by: ann).isEmpty)
        try await ann.status { $0.backup == .on(remaining: 0) }
        if byRecoveryKey {
            try await peer.ask("recover", .string(key.text))
        } else {
            try await StrictPeerTests().isAsked(ann, by: peer, "verify_device")
        }
        try await peer.ask("reach", "verification", "VERIFIED")
        try await peer.ask("reach", "backup", "ENABLED")
        #expect(try await peer.read(early, in: room)?["body"] == "Early")
        try await ann.untilConfirmed(id)
        // New messages do not depend on the backup: the session's key was shared from its current index on.
        let late = try await say("Late", after: early, by: ann, in: room)
        #expect(try await peer.read(late, in: room)?["body"] == "Late")
        #expect(try await shares(with: ann.session.user, in: room, by: ann)[id] == 1)
        await ann.close()
    }

    @Test(
        "Another user's device that is confirmed late decrypts earlier messages with their backup's key",
        .enabled(if: !PeerClient.sdk.command.isEmpty, "no peer: build-aux/ratchets-peers --sdk installs it"))
    func othersDevice() async throws {
        let (ann, _) = try await RoomKeyTests.person("ann", sliding: true)
        let bob = try await MatrixUser.make("bob", sliding: true)
        await bob.close()
        let first = try await device(of: bob)
        let key = try #require(try await first.ask("enable_recovery").string)
        let room = try await room(of: ann)
        try await ann.backend.invite(bob.session.user.rawValue, to: room)
        let firstID = try #require(try await first.ask("join", .string(room.rawValue)).string)
        let second = try await device(of: bob)
        let secondID = try #require(try await second.ask("join", .string(room.rawValue)).string)
        try await ann.untilJoined(bob.session.user, in: room)
        let early = try await ann.say("Early", in: room).id
        #expect(try await first.read(early, in: room)?["body"] == "Early")
        #expect(try await second.read(early, in: room) == nil)
        try await first.ask("back_up")
        #expect(try await shares(with: bob.session.user, in: room, by: ann) == [firstID: 0])
        try await second.ask("recover", .string(key))
        try await second.ask("reach", "verification", "VERIFIED")
        try await second.ask("reach", "backup", "ENABLED")
        #expect(try await second.read(early, in: room)?["body"] == "Early")
        var late = early
        for number in 0..<50 where try await shares(with: bob.session.user, in: room, by: ann)[secondID] == nil {
            late = try await say("Late \(number)", after: early, by: ann, in: room)
        }
        for peer in [first, second] {
            #expect(try await peer.read(late, in: room)?["body"]?.string?.hasPrefix("Late") == true)
        }
        let shares = try await shares(with: bob.session.user, in: room, by: ann)
        #expect(shares[firstID] == 0 && (shares[secondID] ?? 0) > 0)
        await ann.close()
    }

    @Test(
        "A device confirmed late, without backup, decrypts later messages only; its key requests are ignored",
        .enabled(if: !PeerClient.nio.command.isEmpty, "no peer: build-aux/ratchets-peers --matrix installs it"))
    func withoutBackup() async throws {
        let (ann, _) = try await RoomKeyTests.person("ann", sliding: true)
        let bob = try await MatrixUser.make("bob", sliding: true)
        await bob.close()
        let peer = try await MatrixPeer(bob.session.user, server: bob.server.url)
        let room = try await room(of: ann)
        try await ann.backend.invite(bob.session.user.rawValue, to: room)
        let id = try #require(try await peer.ask("join", .string(room.rawValue)).string)
        try await ann.untilJoined(bob.session.user, in: room)
        let early = try await ann.say("Early", in: room).id
        #expect(try await peer.read(early, in: room) == nil)
        let session = try #require(try await ann.client.event(early, in: room)?.content["session_id"]?.string)
        #expect(try await peer.ask("withheld", .string(session)) == "m.unverified")
        try await RoomKeyTests.confirm(bob)
        var late = early
        for number in 0..<50 where try await shares(with: bob.session.user, in: room, by: ann)[id] == nil {
            late = try await say("Late \(number)", after: early, by: ann, in: room)
        }
        #expect(try await peer.read(late, in: room)?["body"]?.string?.hasPrefix("Late") == true)
        try await peer.ask("request_key", .string(room.rawValue), .string(early.rawValue))
        // Ann's device has processed the key request by the time it has synced the next message.
        let next = try await say("Next", after: early, by: ann, in: room)
        #expect(try await peer.read(next, in: room)?["body"] == "Next")
        #expect(try await peer.read(early, in: room) == nil)
        #expect(try await shares(with: bob.session.user, in: room, by: ann)[id] ?? 0 > 0)
        await ann.close()
    }
}
