import ChatCore
import ChatOutbox
import ChatStore
import Foundation
import JSONReading

/// What was sent before and whose answer was lost: the server may have forgotten its transaction meanwhile, and would
/// take it once more.
extension MatrixOutboxBackend {
    /// Some servers know a transaction for half an hour only.
    private static let transactionLife: TimeInterval = 20 * 60
    /// How far this computer's clock and the server's may differ.
    private static let clockSkew: TimeInterval = 3600
    private static let pageSize = 100
    private static let maxPages = 20

    /// - Parameter transactions: all of the request.
    /// - Returns: what the server calls those that it is known to have.
    /// - Throws: ``DeliveryError/unreachable`` while that can't be said.
    func existingMessages(
        _ transactions: [TransactionID], of request: OutboxRequest
    ) async throws -> [TransactionID: MessageID] {
        // Before the store is asked: what a sync brings meanwhile is not seen there.
        let hasCaughtUp = syncStatus.hasCaughtUp
        var existing: [TransactionID: MessageID] = [:]
        for transaction in transactions {
            existing[transaction] = try await store.message(of: transaction, in: request.room)?.id
        }
        guard existing.count < transactions.count,
            now().timeIntervalSince(request.queuedAt) > Self.transactionLife
        else { return existing }
        guard hasCaughtUp else { throw DeliveryError.unreachable }
        return try await existing.merging(skippedMessages(Set(transactions), of: request)) { current, _ in current }
    }

    /// Those that lie where a sync passed over some of the room.
    private func skippedMessages(
        _ transactions: Set<TransactionID>, of request: OutboxRequest
    ) async throws -> [TransactionID: MessageID] {
        let earliest = request.queuedAt.addingTimeInterval(-Self.clockSkew)
        guard let gap = try await store.gaps(in: request.room).last else { return [:] }
        let behind = try await store.messages(in: request.room, after: gap.position - 1, limit: 1).messages.first
        guard behind.map({ $0.sentAt > earliest }) ?? true else { return [:] }
        var found: [TransactionID: MessageID] = [:]
        var token: String? = gap.token
        for _ in 0..<Self.maxPages where token != nil && found.count < transactions.count {
            let page = try await client.history(of: request.room, before: token, limit: Self.pageSize)
            for event in page.events where event.sender == ownUserID {
                guard let text = event.unsigned["transaction_id"]?.string else { continue }
                let transaction = TransactionID(text)
                if transactions.contains(transaction) { found[transaction] = event.id }
            }
            token = page.events.last.map { $0.sentAt > earliest } ?? true ? page.next : nil
        }
        return found
    }
}
