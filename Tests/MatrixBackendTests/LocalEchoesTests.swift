import ChatCore
import ChatOutbox
import ChatTestSupport
import Testing

@testable import MatrixBackend

/// Local echo, response and sync of a message, in any order.
@Suite(.timeLimit(.minutes(10))) struct LocalEchoesTests {
    private enum Step: CaseIterable {
        /// The outbox got the response, the outbox removed the request from the disk, the sync delivered the event.
        case answered, done, synced
    }

    private let room = RoomID("!room")
    private let own = MemberID("@me:a")
    private let transaction = TransactionID("t")

    private var stored: Message {
        var message = Fixtures.message(7)
        message.transactionID = transaction
        return message
    }

    @Test func echoIsShownOnceInAnyOrderOfEvents() async throws {
        // The outbox retains an accepted message until the sync has delivered it; the sync may come before, between or
        // after, also without the transaction ID, as on another device.
        for order in [[Step.synced, .answered, .done], [.answered, .synced, .done], [.answered, .done, .synced]] {
            for hasTransaction in [true, false] where hasTransaction || order[0] == .answered {
                var book = LocalEchoes(unreadable: "Unreadable")
                let items = try await items()
                var shown = Set(book.update(items, in: room, by: own).changed.map(\.id))
                #expect(shown == [LocalEchoes.id(of: transaction)])
                for step in order {
                    switch step {
                    case .answered: book.accept(transaction, as: stored.id, in: room, during: 1)
                    case .done:
                        var accepted = items
                        accepted[0].state = .accepted(stored.id)
                        let isConfirmed = book.stored(in: room) == [transaction]
                        let change = book.update(isConfirmed ? [] : accepted, in: room, by: own)
                        shown.formUnion(change.changed.map(\.id))
                        shown.subtract(change.removed)
                    case .synced:
                        var message = stored
                        if !hasTransaction { message.transactionID = nil }
                        shown.subtract(book.resolve([message], in: room))
                        shown.insert(message.id)
                        // The outbox publishes the item again before it is removed.
                        if order.last != .synced {
                            #expect(book.update(items, in: room, by: own) == LocalEchoes.Change())
                        }
                    }
                    #expect(shown.count == 1, "\(order) at \(step)")
                }
                #expect(shown == [stored.id] && book.messages(in: room).isEmpty)
            }
        }
    }

    @Test("Echoes derive from the outbox's items alone, so that they are the same after a restart")
    func restart() async throws {
        var items = try await items()
        for state in [OutboxItem.State.waiting, .sending, .failed(reason: "no"), .accepted(stored.id)] {
            items[0].state = state
            var before = LocalEchoes(unreadable: "Unreadable")
            _ = before.update(try await self.items(), in: room, by: own)
            _ = before.update(items, in: room, by: own)
            var after = LocalEchoes(unreadable: "Unreadable")
            _ = after.update(items, in: room, by: own)
            #expect(after.messages(in: room) == before.messages(in: room) && after.messages(in: room).count == 1)
        }
    }

    @Test("A message stored before the outbox's items show it is no echo, and need not be retained")
    func storedFirst() async throws {
        var book = LocalEchoes(unreadable: "Unreadable")
        var items = try await items()
        book.accept(transaction, as: stored.id, in: room, during: 1)
        #expect(book.resolve([stored], in: room).isEmpty)
        _ = book.update([], in: room, by: own)
        items[0].state = .accepted(stored.id)
        #expect(book.update(items, in: room, by: own) == LocalEchoes.Change())
        #expect(book.stored(in: room) == [transaction] && book.isStored(items[0]))
        _ = book.update([], in: room, by: own)
        #expect(book.stored(in: room).isEmpty, "the outbox has dropped it")
    }

    @Test func discardedEchoIsRemoved() async throws {
        var book = LocalEchoes(unreadable: "Unreadable")
        _ = book.update(try await items(), in: room, by: own)
        #expect(book.update([], in: room, by: own).removed == [LocalEchoes.id(of: transaction)])
        #expect(book.messages(in: room).isEmpty)
    }

    /// Returns the items of an outbox without a network.
    private func items() async throws -> [OutboxItem] {
        struct Nowhere: OutboxStorage, OutboxBackend {
            func outboxRequests() async throws -> [OutboxRequest] { [] }
            func commit(_ change: OutboxChange) async throws {}
            func upload(
                _ file: MediaReference, of request: OutboxRequest,
                progress: @escaping @Sendable (Double) -> Void
            ) async throws -> String { "" }
            func deliver(_ request: OutboxRequest) async throws -> MessageID? { throw DeliveryError.unreachable }
        }
        let outbox = Outbox(storage: Nowhere(), backend: Nowhere(), isOnline: false, now: { Fixtures.date })
        try await outbox.send(WrittenMessage("Text"), transaction: transaction, to: room)
        var items = outbox.items(in: room).makeAsyncIterator()
        return try #require(await items.next { !$0.isEmpty })
    }
}
