import ChatCore
import ChatOutbox
import ChatTestSupport
import Composer
import Synchronization
import Testing

@testable import MatrixBackend

/// Messages that a changed identity holds back are sent once it no longer does, and not before.
@Suite(.timeLimit(.minutes(10))) struct HeldMessagesTests {
    private static let room = RoomID("!a:b")
    private static let holding = RoomTrust(changed: [MemberID("@c:b")], holding: [MemberID("@c:b")])
    private static let replaced = RoomTrust(isOwnReplaced: true)
    private static let free = RoomTrust(changed: [MemberID("@c:b")])
    private static let held = "the identity of @c:b has changed since it was verified"

    struct Case: CustomTestStringConvertible {
        let testDescription: String
        /// The trust of the room at each reading.
        let trust: [RoomTrust?]
        /// How many attempts the server rejects, and why.
        var rejections = 1
        var reason = held
        var attempts = 1
    }

    @Test(arguments: [
        Case(testDescription: "accepted", trust: [holding, free], attempts: 2),
        Case(testDescription: "one after the other", trust: [holding, replaced, holding, free], attempts: 2),
        Case(testDescription: "keys unavailable meanwhile", trust: [nil, holding, nil, free], attempts: 2),
        Case(testDescription: "accepted before it is noted, or a restart", trust: [nil, free], attempts: 2),
        Case(testDescription: "changed again", trust: [free, holding, free], rejections: 2, attempts: 3),
        Case(
            testDescription: "confirmed by the own new identity", trust: [replaced, free],
            reason: DeliveryReason.ownIdentityReplaced.rawValue, attempts: 2),
        Case(testDescription: "still held", trust: [holding, replaced, nil]),
        Case(testDescription: "keys unavailable", trust: [nil]),
        Case(testDescription: "nothing tells why", trust: [free, free, free], rejections: .max, attempts: 2),
        Case(testDescription: "rejected for another reason", trust: [], reason: "403 M_FORBIDDEN"),
    ])
    func messagesAreSentOnceNothingHoldsThem(_ test: Case) async throws {
        let server = RejectingServer(rejections: test.rejections, reason: test.reason)
        let outbox = Outbox(storage: NoStorage(), backend: server)
        let (ends, ended) = AsyncStream.makeStream(of: Void.self)
        // In reverse order.
        let rest = Mutex(Array(test.trust.reversed()))
        let messages = HeldMessages(outbox: outbox) { _ in
            AsyncStream {
                let next = rest.withLock { $0.popLast() }
                if next == nil { ended.yield() }
                return next
            }
        }
        try await outbox.send(WrittenMessage("Hello"), transaction: TransactionID("t"), to: Self.room)
        for await items in outbox.items(in: Self.room) {
            messages.note(items, in: Self.room)
            // Sent, or rejected as often as it will be.
            if items.isEmpty || items[0].request.failure != nil && server.attempts == test.attempts { break }
        }
        let isSent = test.attempts > test.rejections
        if !isSent, test.reason == Self.held {
            for await _ in ends { break }
        }
        #expect(server.attempts == test.attempts)
        #expect(rest.withLock { $0.isEmpty })
        messages.stop()
        await outbox.close()
    }

    @Test("The trust of a room is not read any more once its messages are discarded")
    func discardedMessages() async throws {
        let outbox = Outbox(storage: NoStorage(), backend: RejectingServer(rejections: .max, reason: Self.held))
        let (ends, ended) = AsyncStream.makeStream(of: Void.self)
        let messages = HeldMessages(outbox: outbox) { _ in
            let (trust, continuation) = AsyncStream.makeStream(of: RoomTrust?.self)
            continuation.onTermination = { _ in ended.yield() }
            continuation.yield(Self.holding)
            return trust
        }
        let transaction = TransactionID("t")
        try await outbox.send(WrittenMessage("Hello"), transaction: transaction, to: Self.room)
        var isDiscarded = false
        for await items in outbox.items(in: Self.room) {
            messages.note(items, in: Self.room)
            if isDiscarded, items.isEmpty { break }
            guard !isDiscarded, items.first?.request.failure != nil else { continue }
            isDiscarded = true
            try await outbox.delete(.queued(transaction), in: Self.room, transaction: TransactionID("d"))
        }
        #expect(isDiscarded)
        for await _ in ends { break }
        messages.stop()
        await outbox.close()
    }

    private struct NoStorage: OutboxStorage {
        func outboxRequests() -> [OutboxRequest] { [] }
        func commit(_ change: OutboxChange) {}
    }

    /// Rejects the first attempts, and accepts the next one.
    private final class RejectingServer: OutboxBackend {
        private let count = Mutex(0)
        let rejections: Int
        let reason: String

        init(rejections: Int, reason: String) {
            self.rejections = rejections
            self.reason = reason
        }

        var attempts: Int { count.withLock { $0 } }

        func upload(
            _ file: MediaReference, of request: OutboxRequest, progress: @escaping @Sendable (Double) -> Void
        ) throws -> String { throw DeliveryError.unreachable }

        func deliver(_ request: OutboxRequest) throws -> MessageID? {
            let attempt = count.withLock { count in
                count += 1
                return count
            }
            guard attempt > rejections else { throw DeliveryError.rejected(reason: reason) }
            return MessageID("$m")
        }
    }
}
