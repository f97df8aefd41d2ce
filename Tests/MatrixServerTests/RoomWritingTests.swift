import ChatCore
import ChatOutbox
import ChatStore
import ChatTestSupport
import Composer
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Testing

@testable import MatrixBackend

/// Messages sent into encrypted rooms are decrypted by another client, and by another account of this program, over a
/// real homeserver.
@Suite(
    .enabled(if: !MatrixPeer.command.isEmpty, "no peer: build-aux/ratchets-peers --matrix installs it"), .serialized,
    .timeLimit(.minutes(10))
)
struct RoomWritingTests {
    /// Returns an event as stored on the server.
    private static func raw(_ event: MessageID, in room: RoomID, for user: MatrixUser) async throws -> MatrixEvent {
        try #require(try await user.client.event(event, in: room))
    }

    /// Sends a message and checks that the peer decrypts it.
    @discardableResult
    private static func say(
        _ text: String, from ann: MatrixUser, to peer: MatrixPeer, in room: RoomID, replyTo: MessageID? = nil
    ) async throws -> Message {
        let sent = try await ann.say(text, in: room, replyTo: replyTo)
        #expect(sent.text == text && sent.seal == nil)
        let raw = try await raw(sent.id, in: room, for: ann)
        #expect(raw.type == "m.room.encrypted" && raw.content["body"] == nil)
        #expect(try await peer.read(sent.id, in: room)?["body"]?.string == text)
        return sent
    }

    private static func session(of message: Message, for user: MatrixUser) async throws -> String? {
        try await raw(message.id, in: message.roomID, for: user).content["session_id"]?.string
    }

    @Test("Another client decrypts texts, replies, edits and files, also after a restart", arguments: [true, false])
    func writing(_ sliding: Bool) async throws {
        var (ann, credential) = try await RoomKeyTests.person("ann", sliding: sliding)
        let (room, peer) = try await RoomKeyTests.room(with: ann, sliding: sliding)
        try await ann.untilEncrypted(room)
        let first = try await Self.say("Größe", from: ann, to: peer, in: room)
        let reply = try await Self.say("Answer", from: ann, to: peer, in: room, replyTo: first.id)
        #expect(reply.replyTo == first.id)
        #expect(try await peer.read(reply.id, in: room)?["m.relates_to"] != nil)

        try await ann.backend.edit(first.id, in: room, to: WrittenText("Größer"))
        let edited = try await ann.messages(in: room) { all in
            all.first?.text == "Größer" && all.first?.pendingChange == nil
        }
        #expect(edited.count == 2)
        let events = try await ann.client.history(of: room, before: nil, limit: 20).events
        let edit = try #require(events.first { $0.content["m.relates_to"]?["rel_type"]?.string == "m.replace" })
        #expect(edit.type == "m.room.encrypted")
        let newContent = try await peer.read(edit.id, in: room)?["m.new_content"]
        #expect(newContent?["body"]?.string == "Größer")

        let data = Data((0..<300_001).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let file = try await ann.backend.storeMedia(
            .data(data), named: "secret.bin", type: "application/octet-stream", progress: { _ in })
        let transaction = TransactionID("file")
        try await ann.backend.send(WrittenMessage("Caption", files: [file]), as: transaction, to: room)
        let withFile = try await ann.syncedMessage(transaction, in: room)
        #expect(withFile.attachments.first?.isEncrypted == true && withFile.text == "Caption")
        let read = try #require(try await peer.read(withFile.id, in: room))
        #expect(read["filename"]?.string == "secret.bin" && read["url"] == nil)
        let digest = try SHA256.digest(of: Array(data)).map { String(format: "%02x", $0) }.joined()
        let theirs = try await peer.ask("read_file", .string(room.rawValue), .string(withFile.id.rawValue))
        #expect(theirs.string == digest)

        ann = try await ann.restarted(open: credential)
        let later = try await Self.say("After a restart", from: ann, to: peer, in: room)
        #expect(try await Self.session(of: later, for: ann) == Self.session(of: reply, for: ann))
        let texts = try await ann.messages(in: room) { $0.count == 4 }.map(\.text)
        #expect(texts == ["Größer", "Answer", "Caption", "After a restart"])
        await ann.close()
    }

    @Test("Stricter settings rotate the session, and removed members do not get the key", arguments: [true, false])
    func rotation(_ sliding: Bool) async throws {
        let (ann, _) = try await RoomKeyTests.person("ann", sliding: sliding)
        let (room, peer) = try await RoomKeyTests.room(with: ann, sliding: sliding)
        try await ann.untilEncrypted(room)
        let first = try await Self.say("First", from: ann, to: peer, in: room)
        let settings: JSONValue = ["algorithm": "m.megolm.v1.aes-sha2", "rotation_period_msgs": 2]
        try await ann.client.setState("m.room.encryption", settings, of: room)
        while try await ann.backend.keys.encryptedRoom(room)?.maxMessages != 2 {
            try await Task.sleep(for: .milliseconds(20))
        }
        var sessions = [try await Self.session(of: first, for: ann)]
        for number in 0..<4 {
            let sent = try await Self.say("\(number)", from: ann, to: peer, in: room)
            sessions.append(try await Self.session(of: sent, for: ann))
        }
        #expect(sessions[1] != sessions[0] && sessions[1] == sessions[2] && sessions[3] == sessions[4])
        #expect(sessions[2] != sessions[3])

        try await ann.backend.removeMember(peer.user, from: room)
        try await ann.members(of: room) { all in all.first { $0.id == peer.user }?.hasLeft == true }
        let hidden = try await ann.say("Hidden", in: room)
        try await ann.backend.invite(peer.user.rawValue, to: room)
        try await peer.ask("join", .string(room.rawValue))
        try await ann.members(of: room) { all in all.first { $0.id == peer.user }?.hasLeft == false }
        try await Self.say("Back", from: ann, to: peer, in: room)
        // The server may return the event, as the history is shared, but the peer lacks its key.
        let found = try? await peer.read(hidden.id, in: room)
        #expect(found == nil)
        await ann.close()
    }

    @Test("Two accounts of this program exchange messages and files, also after restarts", arguments: [true, false])
    func conversation(_ sliding: Bool) async throws {
        var (ann, annCredential) = try await RoomKeyTests.person("ann", sliding: sliding)
        var (bob, bobCredential) = try await RoomKeyTests.person("bob", sliding: sliding)
        try await RoomKeyTests.untilPublished(ann)
        try await RoomKeyTests.untilPublished(bob)
        let room = try await ann.backend.createRoom(named: "Sealed")
        try await ann.waitForRoom(room)
        let settings: JSONValue = ["algorithm": "m.megolm.v1.aes-sha2"]
        try await ann.client.setState("m.room.encryption", settings, of: room)
        try await ann.backend.invite(bob.session.user.rawValue, to: room)
        try await ann.untilEncrypted(room)
        // Sent between the invitation and the join.
        let early = try await ann.say("Early", in: room)
        _ = try await bob.backend.join(room.rawValue)
        try await bob.waitForRoom(room)
        try await bob.messages(in: room) { $0.map(\.text) == ["Early"] }
        try await bob.untilEncrypted(room)
        try await bob.say("Hello", in: room, replyTo: early.id)
        try await ann.messages(in: room) { $0.last?.text == "Hello" && $0.last?.replyTo == early.id }
        try await ann.backend.edit(early.id, in: room, to: WrittenText("Earlier"))
        try await bob.messages(in: room) { $0.first?.text == "Earlier" }
        try await bob.backend.react("👍", isAdded: true, to: early.id, in: room)
        try await ann.messages(in: room) { $0.first?.reactions.map(\.text) == ["👍"] }

        ann = try await ann.restarted(open: annCredential)
        bob = try await bob.restarted(open: bobCredential)
        let data = Data((0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let file = try await ann.backend.storeMedia(
            .data(data), named: "a.bin", type: "application/octet-stream", progress: { _ in })
        try await ann.backend.send(WrittenMessage("", files: [file]), as: TransactionID("f"), to: room)
        let received = try await bob.messages(in: room) { $0.last?.attachments.count == 1 }
        let attachment = try #require(received.last?.attachments.first)
        #expect(attachment.name == "a.bin" && attachment.isEncrypted)
        #expect(try Data(contentsOf: await bob.backend.content(of: attachment)) == data)
        try await ann.messages(in: room) { $0.last?.attachments.count == 1 && $0.last?.seal == nil }
        try await bob.backend.delete(try await bob.say("Gone", in: room).id, in: room)
        try await ann.messages(in: room) { $0.last?.isDeleted == true }
        await ann.close()
        await bob.close()
    }

    @Test("Queued messages are encrypted if encryption was turned on meanwhile, and sent once")
    func queuedBefore() async throws {
        let (ann, _) = try await RoomKeyTests.person("ann", sliding: true)
        try await RoomKeyTests.untilPublished(ann)
        let room = try await ann.backend.createRoom(RoomRequest(name: "Soon", isEncrypted: false))
        try await ann.waitForRoom(room)
        let clear = try await ann.say("Clear", in: room)
        await ann.backend.outbox.setOnline(false)
        try await ann.backend.send(Fixtures.outgoing("Queued", transaction: "queued"), to: room)
        // Simulates an attempt whose response was lost.
        try await ann.backend.send(Fixtures.outgoing("Sent", transaction: "sent"), to: room)
        let sent = try await ann.client.send(
            "m.room.message", ["msgtype": "m.text", "body": "Sent"], to: room, transaction: "sent")
        let settings: JSONValue = ["algorithm": "m.megolm.v1.aes-sha2"]
        try await ann.client.setState("m.room.encryption", settings, of: room)
        try await ann.untilEncrypted(room)
        await ann.backend.outbox.setOnline(true)
        let queued = try await ann.syncedMessage(TransactionID("queued"), in: room)
        #expect(try await Self.raw(queued.id, in: room, for: ann).type == "m.room.encrypted")
        #expect(try await Self.raw(clear.id, in: room, for: ann).type == "m.room.message")
        for await items in ann.backend.outbox.items(in: room) where items.allSatisfy(\.isAccepted) { break }
        let events = try await ann.client.history(of: room, before: nil, limit: 50).events
        let written = events.filter { ["m.room.message", "m.room.encrypted"].contains($0.type) }
        #expect(Set(written.map(\.id)) == [clear.id, sent, queued.id])
        await ann.close()
    }

    @Test("Messages and files are forwarded into an encrypted room, with a new upload")
    func forwarding() async throws {
        let (ann, _) = try await RoomKeyTests.person("ann", sliding: true)
        let (room, peer) = try await RoomKeyTests.room(with: ann, sliding: true)
        try await ann.untilEncrypted(room)
        try await peer.ask("send_file", .string(room.rawValue), "data.bin", 1000)
        let received = try await ann.messages(in: room) { $0.last?.attachments.count == 1 }
        let file = try #require(received.last?.attachments.first)
        let copy = WrittenMessage(WrittenText(), files: [file], origin: .forwarded)
        try await ann.backend.send(copy, as: TransactionID("copy"), to: room)
        let sent = try await ann.syncedMessage(TransactionID("copy"), in: room)
        let again = try #require(sent.attachments.first)
        #expect(again.isEncrypted && again.uri != file.uri && again.name == "data.bin")
        let theirs = try await peer.ask("read_file", .string(room.rawValue), .string(sent.id.rawValue))
        let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        #expect(try theirs.string == SHA256.digest(of: bytes).map { String(format: "%02x", $0) }.joined())

        let clear = try await ann.backend.createRoom(RoomRequest(name: "Clear", isEncrypted: false))
        try await ann.waitForRoom(clear)
        await #expect(throws: ChatError.notPermitted) {
            try await ann.backend.send(copy, as: TransactionID("no"), to: clear)
        }
        // Sent unencrypted, which the user has confirmed.
        var plain = copy
        plain.files = [try await ann.backend.unencrypted(file)]
        try await ann.backend.send(plain, as: TransactionID("yes"), to: clear)
        let open = try await ann.syncedMessage(TransactionID("yes"), in: clear)
        #expect(try await Self.raw(open.id, in: clear, for: ann).content["url"] != nil)
        let uploaded = try #require(open.attachments.first)
        #expect(!uploaded.isEncrypted && uploaded.uri.hasPrefix("mxc://") && uploaded.name == "data.bin")
        #expect(try Data(contentsOf: await ann.backend.content(of: uploaded)) == Data(bytes))
        await ann.close()
    }
}
