import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Testing

@testable import MatrixBackend

/// Which messages have edits that could not be read.
@Suite(.timeLimit(.minutes(5))) struct SealedEditsTests {
    private let folder = TemporaryFolder()
    private let room = RoomID("!r:example.org")

    private func event(_ id: String, relation: JSONValue? = nil) throws -> MatrixEvent {
        var content: [String: JSONValue] = ["algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "x", "session_id": "s"]
        content["m.relates_to"] = relation
        return try #require(
            MatrixEvent(Events.event(id, "m.room.encrypted", .object(content), by: "@ann:example.org", at: 5000)))
    }

    @Test("An unreadable edit is listed with its target, an unreadable message is not")
    func edits() async throws {
        let store = try await ChatStore.open(in: folder.path("store"))
        let edit = try event("$e", relation: ["rel_type": "m.replace", "event_id": "$1"])
        let sealed = try event("$2")
        var message = NewMessage(
            id: sealed.id, sender: sealed.sender, content: Message.Content(sealed: .damaged), sentAt: sealed.sentAt)
        message.ciphertext = Ciphertext(sealed, reason: .damaged)
        let batch = RoomBatch(
            id: room, createdAt: Fixtures.date,
            events: [.message(message), .sealed(Ciphertext(edit, reason: .noKey))])
        _ = try await store.apply(SyncBatch(rooms: [batch]))
        #expect(
            try await SealedEdits(store: store).all(in: room) == [
                UnreadableEdit(
                    of: MessageID("$1"), by: MemberID("@ann:example.org"), sentAt: Date(timeIntervalSince1970: 5),
                    reason: .noKey)
            ])
        #expect(try await SealedEdits(store: store).all(in: RoomID("!other:example.org")).isEmpty)
        await store.close()
    }
}
