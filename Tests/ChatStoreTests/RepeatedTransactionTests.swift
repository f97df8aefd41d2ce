import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatStore

/// Transaction IDs that a server repeats.
@Suite(.timeLimit(.minutes(10))) struct RepeatedTransactionTests: SyncTesting {
    let folder = TemporaryFolder()

    private func event(_ number: Int, _ transaction: String) -> TimelineEvent {
        var message = message(number)
        message.transactionID = TransactionID(transaction)
        return .message(message)
    }

    @Test("History with a transaction that a stored message has is inserted, and the next chunk after it.")
    func history() async throws {
        let store = try await open()
        try await apply([event(9, "t")], gap: "p1", to: store)
        var gap = try #require(try await store.gaps(in: room).first)
        #expect(try await store.fill(gap, in: room, with: [event(7, "t"), event(8, "t")], next: "p2") != nil)
        gap = try #require(try await store.gaps(in: room).first)
        #expect(try await store.fill(gap, in: room, with: [event(5, "u"), event(6, "t")], next: nil) != nil)
        #expect(try await texts(store) == ["5", "6", "7", "8", "9"])
        let stored = try await store.messages(in: room, before: .max, limit: 10)
        // The first one that was stored has it.
        #expect(stored.messages.map(\.transactionID?.rawValue) == ["u", nil, nil, nil, "t"])
        #expect(try await store.integrityProblems() == [])
        await store.close()
    }

    @Test("A synced message with the transaction of another one is shown, and comes only once.")
    func sync() async throws {
        let store = try await open()
        try await apply([event(1, "t")], to: store)
        try await apply([event(2, "t"), event(3, "t")], to: store)
        try await apply([event(2, "t")], to: store)
        #expect(try await texts(store) == ["1", "2", "3"])
        await store.close()
    }

    @Test("A message that is stored as being sent is still found by its transaction.")
    func unsentMessage() async throws {
        let store = try await open()
        try await apply([event(1, "u")], to: store) { $0.members = [Member(id: ann, displayName: "Ann", kind: .own)] }
        _ = try await store.append(
            NewMessage(
                id: MessageID("~t"), sender: ann, text: "2", sentAt: Fixtures.date, transactionID: TransactionID("t"),
                delivery: .sending), to: room)
        try await apply([event(2, "t")], to: store)
        #expect(try await texts(store) == ["1", "2"])
        await store.close()
    }
}
