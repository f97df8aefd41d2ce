import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatStore

@Suite("Rooms that the user is no longer in", .timeLimit(.minutes(10))) struct LeftRoomTests: SyncTesting {
    let folder = TemporaryFolder()

    private func queue(_ text: String, in store: ChatStore) async throws {
        try await store.commit(
            OutboxChange(put: [
                OutboxRequest(
                    id: TransactionID(text), room: room, action: .send(WrittenMessage(text)), queuedAt: Fixtures.date)
            ]))
    }

    @Test("What is unsent in a room is told before a sync removes it, and waits for an observer")
    func unsentContent() async throws {
        let store = try await open()
        try await apply([event(1)], to: store)
        for text in ["one", "two"] { try await queue(text, in: store) }
        let draft = Fixtures.draft("draft")
        _ = try await store.saveDraft(draft, in: room)
        #expect(try await store.pendingCount(in: room) == PendingCount(messages: 2, drafts: 1))
        try await apply([], to: store) { $0.isLeft = true }
        #expect(try await store.outboxRequests().isEmpty)
        await store.close()
        var told: [UnsentContent] = []
        for await content in store.unsentOfLeftRooms() { told.append(content) }
        let messages = [WrittenMessage("one"), WrittenMessage("two")]
        #expect(told == [UnsentContent(room: room, messages: messages, draft: draft)])
    }

    @Test("Of a room without unsent content, nothing is told")
    func nothingUnsent() async throws {
        let store = try await open()
        try await apply([event(1)], to: store)
        #expect(try await store.pendingCount(in: room) == PendingCount())
        for _ in 0..<2 { try await apply([], to: store) { $0.isLeft = true } }
        await store.close()
        for await content in store.unsentOfLeftRooms() { Issue.record("told of \(content)") }
    }
}
