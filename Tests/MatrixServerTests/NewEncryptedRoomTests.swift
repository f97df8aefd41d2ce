import ChatCore
import ChatTestSupport
import Composer
import Foundation
import JSONReading
import Testing

@testable import MatrixBackend

/// Rooms that are encrypted from their first event on, over a real homeserver.
@Suite(
    .enabled(if: !MatrixPeer.command.isEmpty, "no peer: build-aux/ratchets-peers --matrix installs it"), .serialized,
    .timeLimit(.minutes(10))
)
struct NewEncryptedRoomTests {
    /// Creates a user with keys, and another client.
    private static func people(sliding: Bool) async throws -> (ann: MatrixUser, peer: MatrixPeer) {
        let (ann, _) = try await RoomKeyTests.person("ann", sliding: sliding)
        let bob = try await MatrixUser.make("bob", sliding: sliding)
        await bob.close()
        try await RoomKeyTests.untilPublished(ann)
        let peer = try await MatrixPeer(bob.session.user, server: bob.server.url)
        try await RoomKeyTests.confirm(bob)
        return (ann, peer)
    }

    /// Sends a first message at once, which the peer decrypts after joining.
    private static func talk(in room: RoomID, _ ann: MatrixUser, _ peer: MatrixPeer) async throws {
        try await ann.backend.send(Fixtures.outgoing("Größe", transaction: "first"), to: room)
        let sent = try await ann.syncedMessage(TransactionID("first"), in: room)
        let raw = try #require(try await ann.client.event(sent.id, in: room))
        #expect(raw.type == "m.room.encrypted" && raw.content["body"] == nil)
        try await peer.ask("join", .string(room.rawValue))
        #expect(try await peer.read(sent.id, in: room)?["body"]?.string == "Größe")
        let settings = try await ann.client.state("m.room.encryption", of: room)
        #expect(settings == ["algorithm": "m.megolm.v1.aes-sha2"])
    }

    @Test(
        "The first message in a new room or direct chat is encrypted, and another client decrypts it",
        arguments: [true, false])
    func created(_ sliding: Bool) async throws {
        let (ann, peer) = try await Self.people(sliding: sliding)
        let room = try await ann.backend.createRoom(RoomRequest(name: "Garden", invitees: [peer.user]))
        try await Self.talk(in: room, ann, peer)
        ann.privacy.current = Privacy()
        let direct = try await ann.backend.openDirect(with: peer.user.rawValue)
        try await Self.talk(in: direct, ann, peer)
        #expect(try await ann.backend.openDirect(with: peer.user.rawValue) == direct)
        await ann.close()
    }

    @Test("Only permitted members can turn on encryption, and later messages are encrypted")
    func turnedOn() async throws {
        let (ann, peer) = try await Self.people(sliding: true)
        let (bo, _) = try await RoomKeyTests.person("bo", sliding: true)
        let room = try await ann.backend.createRoom(
            RoomRequest(name: "Garden", invitees: [peer.user, bo.session.user], isEncrypted: false))
        try await ann.waitForRoom(room)
        let clear = try await ann.say("Clear", in: room)
        _ = try await bo.backend.join(room.rawValue)
        try await bo.waitForRoom(room)
        #expect(try await !bo.backend.members(of: room).permissions.contains(.encrypt))
        await #expect(throws: ChatError.notPermitted) { try await bo.backend.enableEncryption(in: room) }
        #expect(try await !bo.backend.isEncrypted(room))
        try await bo.say("Still clear", in: room)
        #expect(try await ann.backend.members(of: room).permissions.contains(.encrypt))
        try await ann.backend.enableEncryption(in: room)
        try await Self.talk(in: room, ann, peer)
        #expect(try await ann.client.event(clear.id, in: room)?.type == "m.room.message")
        while try await !bo.backend.isEncrypted(room) { try await Task.sleep(for: .milliseconds(20)) }
        let answer = try await bo.say("Answer", in: room)
        #expect(try await ann.client.event(answer.id, in: room)?.type == "m.room.encrypted")
        try await ann.messages(in: room) { $0.last?.text == "Answer" }
        await ann.close()
        await bo.close()
    }
}
