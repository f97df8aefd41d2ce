import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Testing

@testable import MatrixBackend

/// Joining rooms on a real homeserver.
@Suite(.timeLimit(.minutes(10)))
struct RoomEntryTests {
    @Test func directChatIsCreatedOnce() async throws {
        let ann = try await MatrixUser.make("ann", sliding: true)
        let bo = try await MatrixUser.make("bo", sliding: true)
        let user = bo.session.user.rawValue
        let room = try await ann.backend.openDirect(with: user)
        try await ann.waitForRoom(room)
        #expect(try await ann.backend.openDirect(with: user) == room)
        #expect(try await bo.backend.join(room.rawValue) == room)
        try await ann.say("Hello", in: room)
        try await bo.messages(in: room) { $0.contains { $0.text == "Hello" } }
        await #expect(throws: ChatError.notFound) { _ = try await ann.backend.openDirect(with: "bo") }
        await #expect(throws: ChatError.notFound) {
            _ = try await ann.backend.openDirect(with: ann.session.user.rawValue)
        }
        await ann.close()
        await bo.close()
    }

    @Test func permalinkJoinsTheRoom() async throws {
        let ann = try await MatrixUser.make("ann", sliding: true)
        let bo = try await MatrixUser.make("bo", sliding: true)
        let room = try await ann.backend.createRoom(named: "Garden")
        try await ann.backend.invite(bo.session.user.rawValue, to: room)
        let link = "https://matrix.to/#/\(room.rawValue)?via=localhost"
        #expect(try await bo.backend.join(link) == room)
        await #expect(throws: ChatError.notFound) { _ = try await bo.backend.join("nowhere") }
        await ann.close()
        await bo.close()
    }

    /// An encrypted room is shown as encrypted, and without keys nothing is sent into it.
    @Test func encryptedRoomIsRecognized() async throws {
        let ann = try await MatrixUser.make("ann", sliding: true)
        let room = try await ann.backend.createRoom(named: "Garden")
        try await ann.say("Before", in: room)
        #expect(try await !ann.backend.isEncrypted(room))
        try await ann.client.setState("m.room.encryption", ["algorithm": "m.megolm.v1.aes-sha2"], of: room)
        // The marker arrives after the encryption event, which is thus processed.
        let marker: JSONValue = ["msgtype": "m.text", "body": "Marker"]
        _ = try await ann.client.send("m.room.message", marker, to: room, transaction: "marker")
        try await ann.messages(in: room) { $0.contains { $0.text == "Marker" } }
        #expect(try await ann.backend.isEncrypted(room))
        // The message waits for keys; a program without encryption rejects it.
        _ = try? await ann.backend.send(WrittenMessage("After"), as: TransactionID("t"), to: room)
        let back = try await ann.restarted()
        try await back.messages(in: room) { $0.contains { $0.text == "Marker" } }
        let events = try await back.client.history(of: room, before: nil, limit: 20).events
        #expect(events.filter { $0.type == "m.room.message" }.count == 2)
        #expect(!events.contains { $0.type == "m.room.encrypted" })
        await back.close()
    }

    /// An initial sync over an existing store does not list rooms left elsewhere: the server lost the sync position.
    @Test(arguments: [true, false]) func roomsLeftElsewhereAreRemovedByAnInitialSync(_ sliding: Bool) async throws {
        var ann = try await MatrixUser.make("ann", sliding: sliding)
        let left = try await ann.backend.createRoom(named: "Left")
        let kept = try await ann.backend.createRoom(named: "Kept")
        for room in [left, kept] { try await ann.say("Hello", in: room) }
        await ann.backend.close()
        try await ann.client.leave(left)
        for setting in ["matrix.sync.sliding", "matrix.sync.plain"] { try await ann.store.setSetting("", for: setting) }
        ann = try await ann.restarted()
        for await rooms in ann.backend.roomSummaries() where !rooms.contains(where: { $0.id == left }) { break }
        // Synapse repeats answers of the first two minutes, in which the user had not left yet: wait for a new one.
        try await ann.say("Still here", in: kept)
        let stored = try await ann.store.roomSummaries().map(\.id)
        #expect(stored == [kept])
        await ann.close()
    }

    @Test func bannedRoomCanBeLeft() async throws {
        let ann = try await MatrixUser.make("ann", sliding: true)
        let bo = try await MatrixUser.make("bo", sliding: true)
        let room = try await ann.backend.createRoom(named: "Garden")
        try await ann.backend.invite(bo.session.user.rawValue, to: room)
        #expect(try await bo.backend.join(room.rawValue) == room)
        try await bo.waitForRoom(room)
        // Close the backend first: the user does not learn of the ban.
        await bo.backend.close()
        let path = ["client", "v3", "rooms", room.rawValue, "ban"]
        _ = try await ann.client.call(.post, path, body: ["user_id": .string(bo.session.user.rawValue)])
        try await bo.backend.leaveRoom(room)
        #expect(try await bo.store.roomSummaries().isEmpty)
        await ann.close()
        await bo.close()
    }
}
