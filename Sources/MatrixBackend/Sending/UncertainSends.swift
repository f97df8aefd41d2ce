import ChatCore
import ChatStore
import Synchronization

/// Which requests the server may have although it has not answered, and which of them failed with
/// ``DeliveryReason/mayBeSent``, so that another attempt is the user's decision.
final class UncertainSends: Sendable {
    private static let roomSetting = "matrix.uncertainSends"

    private let store: ChatStore
    /// The requests that were sent in this run of the process and have no answer yet.
    private let posted = Mutex<Set<OutboxChange.Key>>([])

    init(store: ChatStore) { self.store = store }

    /// Call this before an event is sent.
    func notePosting(_ transaction: TransactionID, in room: RoomID) {
        let key = OutboxChange.Key(room: room, id: transaction)
        posted.withLock { _ = $0.insert(key) }
    }

    /// Call this once the server has answered for all events of a request.
    func noteDelivery(of request: OutboxRequest) {
        let key = OutboxChange.Key(room: request.room, id: request.id)
        posted.withLock { _ = $0.remove(key) }
    }

    /// Whether an earlier attempt may have brought the request to the server.
    func wasPosted(_ request: OutboxRequest) -> Bool {
        let key = OutboxChange.Key(room: request.room, id: request.id)
        return request.wasAttempted || posted.withLock { $0.contains(key) }
    }

    /// Records that the user is about to learn that it cannot be told whether the server has a request.
    func noteReport(of request: OutboxRequest) async throws {
        // What is not queued any more is not looked up.
        let queued = Set(try await store.outboxRequests().map(\.id.rawValue))
        let reported = try await reported(in: request.room).intersection(queued).union([request.id.rawValue])
        try await store.set(reported.sorted().joined(separator: " "), for: Self.roomSetting, of: request.room)
    }

    func wasReported(_ request: OutboxRequest) async throws -> Bool {
        try await reported(in: request.room).contains(request.id.rawValue)
    }

    private func reported(in room: RoomID) async throws -> Set<String> {
        let text = try await store.setting(Self.roomSetting, of: room) ?? ""
        return Set(text.split(separator: " ").map(String.init))
    }
}
