import ChatCore
import ChatTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Testing

@testable import MatrixBackend

/// Verification and recovery against matrix-rust-sdk with its strictest settings, over a real homeserver.
@Suite(
    .enabled(if: !PeerClient.sdk.command.isEmpty, "no peer: build-aux/ratchets-peers --sdk installs it"), .serialized,
    .timeLimit(.minutes(10))
)
struct StrictPeerTests {
    /// Signs in matrix-rust-sdk on another device of a user.
    /// - Parameter readsBackup: whether its settings accept keys from a backup, which do not prove the sender.
    private func device(of user: MatrixUser, readsBackup: Bool = false) async throws -> MatrixPeer {
        try await MatrixPeer(
            user.session.user, server: user.server.url, client: .sdk, options: readsBackup ? ["--restored"] : [])
    }

    private func asksPeer(
        _ user: MatrixUser, _ peer: MatrixPeer, by request: () async throws -> Void
    ) async throws {
        try await peer.ask("expect_verification")
        try await request()
        try await peer.ask("accept_verification")
        try await compare(user, peer)
    }

    func isAsked(
        _ user: MatrixUser, by peer: MatrixPeer, _ question: String, _ arguments: JSONValue...
    ) async throws {
        try await peer.ask(question, arguments)
        let request = try await user.verification { $0 == .requested }
        try await user.backend.perform(.accept, in: request.id)
        try await peer.ask("start_sas")
        try await compare(user, peer)
    }

    /// Both sides show the same emoji and confirm the match.
    private func compare(_ user: MatrixUser, _ peer: MatrixPeer) async throws {
        // The peer syncs only when it receives a request.
        let theirs = try await peer.ask("emoji").array?.compactMap(\.string)
        let ours = try await user.verification(where: \.isComparing)
        #expect(ours.phase.emoji.count == 7 && theirs == ours.phase.emoji)
        try await peer.ask("confirm")
        try await user.backend.perform(.confirmMatch, in: ours.id)
        try await peer.ask("happened", "finished")
        try await user.verification { $0 == .done }
        try await user.backend.perform(.dismiss, in: ours.id)
    }

    /// Creates a room with one message, encrypted by this program.
    private func room(of ann: MatrixUser, saying text: String) async throws -> (RoomID, MessageID) {
        let room = try await ann.backend.createRoom(RoomRequest(name: "Sealed", isEncrypted: true))
        try await ann.waitForRoom(room)
        try await ann.untilEncrypted(room)
        return (room, try await ann.say(text, in: room).id)
    }

    @Test("Its device is confirmed by emoji, from either side, and then reads the backup", arguments: [true, false])
    func itsDevice(_ isAskedByPeer: Bool) async throws {
        let (ann, _) = try await RoomKeyTests.person("ann", sliding: true)
        let (room, message) = try await room(of: ann, saying: "Größe")
        try await ann.status { $0.identity == .confirmed && $0.backup == .on(remaining: 0) }
        let peer = try await device(of: ann, readsBackup: true)
        #expect(try await peer.ask("state")["verification"] == "UNVERIFIED")
        if isAskedByPeer {
            try await isAsked(ann, by: peer, "verify_device")
        } else {
            let devices = try await ann.backend.devices()
            let other = try #require(devices.first { !$0.isThis && $0.name == "peer" })
            try await asksPeer(ann, peer) { _ = try await ann.backend.verifyDevice(other.id) }
        }
        try await peer.ask("reach", "verification", "VERIFIED")
        try await peer.ask("reach", "backup", "ENABLED")
        try await peer.ask("join", .string(room.rawValue))
        #expect(try await peer.read(message, in: room)?["body"] == "Größe")
        let answer = try await peer.say("Answer", in: room)
        let received = try await ann.messages(in: room) { $0.last?.text == "Answer" }
        #expect(received.last?.id == answer && received.last?.trust == nil)
        await ann.close()
    }

    @Test(
        "It confirms a device of this program by emoji, from either side, which then reads the backup",
        arguments: [true, false])
    func ourDevice(_ isAskedByPeer: Bool) async throws {
        let owner = try await MatrixUser.make("ann", sliding: true)
        let peer = try await device(of: owner)
        try await peer.ask("enable_recovery")
        let ann = try await owner.anotherDevice()
        await owner.close()
        let room = try await ann.backend.createRoom(RoomRequest(name: "Sealed", isEncrypted: true))
        try await ann.waitForRoom(room)
        try await ann.untilEncrypted(room)
        try await peer.ask("join", .string(room.rawValue))
        // Encrypted for confirmed devices only.
        let early = try await peer.say("Early", in: room)
        try await ann.messages(in: room) { $0.last?.id == early && $0.last?.seal != nil }
        try await ann.status { $0.identity == .unconfirmed }
        if isAskedByPeer {
            try await peer.ask("sync")
            try await isAsked(ann, by: peer, "verify_device")
        } else {
            try await asksPeer(ann, peer) { _ = try await ann.backend.verifyDevice(nil) }
        }
        try await ann.status { $0.identity == .confirmed }
        // The peer shares the secrets when it syncs.
        for _ in 0..<50 where try await ann.backend.keys.machine?.storedSecrets().count != 4 {
            try await peer.ask("sync")
            try await Task.sleep(for: .milliseconds(100))
        }
        #expect(try await ann.backend.keys.machine?.storedSecrets().count == 4)
        try await peer.ask("back_up")
        try await ann.status { $0.backup == .on(remaining: 0) }
        try await ann.messages(in: room) { $0.last?.text == "Early" }
        let said = try await ann.say("Späte", in: room)
        #expect(try await peer.read(said.id, in: room)?["body"] == "Späte")
        await ann.close()
    }

    @Test("Another user's identity is verified by emoji in a chat, from either side", arguments: [true, false])
    func person(_ isAskedByPeer: Bool) async throws {
        let (ann, _) = try await RoomKeyTests.person("ann", sliding: true)
        let bob = try await MatrixUser.make("bob", sliding: true)
        await bob.close()
        let peer = try await device(of: bob)
        let chat = try await ann.backend.openDirect(with: bob.session.user.rawValue)
        try await ann.client.setState("m.room.encryption", ["algorithm": "m.megolm.v1.aes-sha2"], of: chat)
        try await peer.ask("join", .string(chat.rawValue))
        try await ann.waitForRoom(chat)
        try await ann.untilEncrypted(chat)
        try await ann.members(of: chat) { all in all.contains { $0.id == bob.session.user && !$0.hasLeft } }
        let said = try await ann.say("Hello", in: chat)
        #expect(try await peer.read(said.id, in: chat)?["body"] == "Hello")
        let (annID, room) = (JSONValue.string(ann.session.user.rawValue), JSONValue.string(chat.rawValue))
        if isAskedByPeer {
            try await isAsked(ann, by: peer, "verify_user", annID, room)
        } else {
            try await asksPeer(ann, peer) { _ = try await ann.backend.verify(bob.session.user) }
        }
        try await ann.identity(of: bob.session.user, is: .verified)
        try await peer.ask("expect_verified", annID)
        await ann.close()
    }

    @Test("A mismatch cancels the verification on both sides") func mismatch() async throws {
        let (ann, _) = try await RoomKeyTests.person("ann", sliding: true)
        let peer = try await device(of: ann)
        try await peer.ask("verify_device")
        let request = try await ann.verification { $0 == .requested }
        try await ann.backend.perform(.accept, in: request.id)
        try await peer.ask("start_sas")
        try await peer.ask("emoji")
        try await ann.verification(where: \.isComparing)
        try await ann.backend.perform(.reportMismatch, in: request.id)
        try await peer.ask("happened", "cancelled")
        try await ann.verification { $0 == .canceled(.mismatch) }
        #expect(try await peer.ask("state")["verification"] == "UNVERIFIED")
        await ann.close()
    }

    @Test("Each restores the other's backup with its recovery key") func recovery() async throws {
        let owner = try await MatrixUser.make("ann", sliding: true)
        let peer = try await device(of: owner)
        let key = try #require(try await peer.ask("enable_recovery").string)
        let room = try await owner.backend.createRoom(RoomRequest(name: "Sealed", isEncrypted: false))
        try await owner.client.setState("m.room.encryption", ["algorithm": "m.megolm.v1.aes-sha2"], of: room)
        try await peer.ask("join", .string(room.rawValue))
        var said: [MessageID] = []
        for number in 0..<5 {
            said.append(try await peer.say("\(number)", in: room))
            try await peer.ask("rotate", .string(room.rawValue))
        }
        try await peer.ask("back_up")

        let ann = try await owner.anotherDevice()
        await owner.close()
        try await ann.waitForRoom(room)
        try await ann.messages(in: room) { $0.map(\.seal) == .init(repeating: .beforeSignIn, count: 5) }
        await #expect(throws: EncryptionError.malformedRecoveryKey) { try await ann.backend.recover(with: "EsT" + key) }
        try await ann.backend.recover(with: key)
        try await ann.status { $0.identity == .confirmed && $0.backup == .on(remaining: 0) }
        try await ann.messages(in: room) { $0.map(\.text) == (0..<5).map { "\($0)" } }

        // And vice versa: with a recovery key created here.
        let next = try await ann.backend.replaceRecoveryKey()
        let last = try await ann.say("Last", in: room)
        try await ann.status { $0.backup == .on(remaining: 0) }
        let third = try await device(of: owner, readsBackup: true)
        await #expect(throws: MatrixPeer.Failure.self) { try await third.ask("recover", .string(key)) }
        try await third.ask("recover", .string(next.text))
        try await third.ask("reach", "verification", "VERIFIED")
        try await third.ask("join", .string(room.rawValue))
        #expect(try await third.read(last.id, in: room)?["body"] == "Last")
        for (number, id) in said.enumerated() {
            #expect(try await third.read(id, in: room)?["body"]?.string == "\(number)")
        }
        await ann.close()
    }
}
