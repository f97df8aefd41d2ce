import ChatCore
import ChatOutbox
import ChatStore
import Foundation
import JSONReading

/// Detects requests that the server accepted although its response was lost. Once the server has dropped the
/// transaction ID, sending again would duplicate the message.
struct RepeatedSends: Sendable {
    /// Shorter than the half hour for which some servers remember transaction IDs.
    private static let transactionLife: TimeInterval = 20 * 60
    /// The tolerated difference between the local clock and the server's.
    private static let clockSkew: TimeInterval = 3600
    private static let pageSize = 100
    private static let maxPages = 20

    let client: MatrixClient
    let store: ChatStore
    let ownUserID: MemberID
    /// Whether the sync has caught up.
    let syncStatus: SyncStatus
    let now: @Sendable () -> Date

    /// - Parameters:
    ///   - transactions: All transactions of a request.
    ///   - wasClear: Whether an earlier attempt may have been sent unencrypted and the next one is encrypted: the
    ///   server considers them different requests.
    /// - Returns: The IDs of the events that the server is known to have.
    /// - Throws: ``DeliveryError/unreachable`` while that is unknown.
    func existingMessages(
        _ transactions: [TransactionID], in room: RoomID, queuedAt: Date, wasClear: Bool = false
    ) async throws -> [TransactionID: MessageID] {
        // Read the status before the store: a sync that completes in between may store events that the lookup missed.
        let hasCaughtUp = syncStatus.hasCaughtUp
        var existing: [TransactionID: MessageID] = [:]
        for transaction in transactions {
            existing[transaction] = try await store.message(of: transaction, in: room)?.id
        }
        guard existing.count < transactions.count,
            wasClear || now().timeIntervalSince(queuedAt) > Self.transactionLife
        else { return existing }
        guard hasCaughtUp else { throw DeliveryError.unreachable }
        if wasClear {
            // The sync may not have delivered yet what the server just received.
            let newest = try await sentMessages(Set(transactions), in: room, queuedAt: queuedAt, before: nil)
            return existing.merging(newest) { current, _ in current }
        }
        let skipped = try await skippedMessages(Set(transactions), in: room, queuedAt: queuedAt)
        return existing.merging(skipped) { current, _ in current }
    }

    /// Searches the newest gap for events that a limited sync skipped.
    private func skippedMessages(
        _ transactions: Set<TransactionID>, in room: RoomID, queuedAt: Date
    ) async throws -> [TransactionID: MessageID] {
        let earliest = queuedAt.addingTimeInterval(-Self.clockSkew)
        guard let gap = try await store.gaps(in: room).last else { return [:] }
        let behind = try await store.messages(in: room, after: gap.position - 1, limit: 1).messages.first
        guard behind.map({ $0.sentAt > earliest }) ?? true else { return [:] }
        return try await sentMessages(transactions, in: room, queuedAt: queuedAt, before: gap.token)
    }

    /// Searches history from a token back to when the request was queued.
    private func sentMessages(
        _ transactions: Set<TransactionID>, in room: RoomID, queuedAt: Date, before start: String?
    ) async throws -> [TransactionID: MessageID] {
        let earliest = queuedAt.addingTimeInterval(-Self.clockSkew)
        var found: [TransactionID: MessageID] = [:]
        var token = start
        for number in 0..<Self.maxPages where number == 0 || token != nil && found.count < transactions.count {
            let page = try await client.history(of: room, before: token, limit: Self.pageSize)
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
