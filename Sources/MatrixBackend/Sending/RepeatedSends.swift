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
    /// The tolerated difference between the local clock and the server's, and by which the local one may be set back.
    static let clockSkew: TimeInterval = 3600
    /// The same where messages are recognized by their contents: the larger it is, the more other messages fit.
    private static let contentClockSkew: TimeInterval = 60
    private static let messageTypes: Set<String> = ["m.room.message", "m.room.encrypted"]
    private static let pageSize = 100
    private static let maxPages = 20

    let client: MatrixClient
    let store: ChatStore
    let opener: EventOpener
    let ownUserID: MemberID
    /// Whether the sync has caught up.
    let syncStatus: SyncStatus
    let former: FormerAttempts
    let uncertain: UncertainSends
    let now: @Sendable () -> Date

    /// - Parameters:
    ///   - transactions: All transactions of the request.
    ///   - wasClear: Whether an earlier attempt may have been sent unencrypted and the next one is encrypted: the
    ///   server considers them different requests.
    /// - Returns: The IDs of the events that the server is known to have.
    /// - Throws: ``DeliveryError/unreachable`` while that is unknown; ``DeliveryReason/mayBeSent`` if it cannot be told.
    ///   After that, history is not searched again.
    func existingMessages(
        _ transactions: [TransactionID], of request: OutboxRequest, wasClear: Bool = false
    ) async throws -> [TransactionID: MessageID] {
        // Read the status before the store: a sync that completes in between may store events that the lookup missed.
        let hasCaughtUp = syncStatus.hasCaughtUp
        var existing: [TransactionID: MessageID] = [:]
        for transaction in transactions {
            existing[transaction] = try await store.message(of: transaction, in: request.room)?.id
        }
        let missing = Set(transactions).subtracting(existing.keys)
        guard !missing.isEmpty, uncertain.wasPosted(request),
            wasClear || now().timeIntervalSince(request.queuedAt) > Self.transactionLife
        else { return existing }
        guard hasCaughtUp else { throw DeliveryError.unreachable }
        guard try await !uncertain.wasReported(request) else { return existing }
        do {
            // In the clear: the sync may not have delivered yet what the server just received.
            let found =
                if wasClear {
                    try await sentMessages(missing, in: request.room, queuedAt: request.queuedAt, before: nil)
                } else {
                    try await skippedMessages(missing, in: request.room, queuedAt: request.queuedAt)
                }
            return existing.merging(found) { current, _ in current }
        } catch let error as DeliveryError where error == DeliveryReason.mayBeSent.error {
            try await uncertain.noteReport(of: request)
            throw error
        }
    }

    /// Searches history for what a former device of the account has sent of a request (``FormerAttempts``): events with
    /// its contents that are not known as those of another request.
    /// - Parameter contents: The contents of all events of the request, with the addresses at which its files are queued.
    /// - Throws: ``DeliveryError/unreachable`` until the sync has caught up; ``DeliveryReason/mayBeSent`` if it cannot be
    ///   told whether the server has it. After that it is not searched for again.
    func messagesOfFormerDevice(
        _ contents: [(transaction: TransactionID, content: JSONValue)], of request: OutboxRequest
    ) async throws -> [TransactionID: MessageID] {
        guard let attempt = try await former.attempt(of: request, contents.map(\.transaction)) else { return [:] }
        var found = attempt.events
        var missing = contents.filter { found[$0.transaction] == nil }
        guard let end = attempt.end, !missing.isEmpty else { return found }
        guard syncStatus.hasCaughtUp else { throw DeliveryError.unreachable }
        let earliest = request.queuedAt.addingTimeInterval(-Self.contentClockSkew)
        let window = earliest...max(earliest, end.addingTimeInterval(Self.contentClockSkew))
        var isUnknown = false
        var isWhole = false
        do {
            isWhole = try await search(request.room, since: earliest, before: nil) { events in
                let foreign = events.filter {
                    $0.sender == ownUserID && window.contains($0.sentAt) && $0.unsigned["transaction_id"] == nil
                        && !attempt.claimed.contains($0.id)
                }
                // What was deleted, and what cannot be decrypted, may be the message.
                isUnknown = isUnknown || foreign.contains { Self.messageTypes.contains($0.type) && $0.isRedacted }
                for event in try await opener.opened(foreign, in: request.room) {
                    if case .sealed = event.protection, try await !store.isOwnRequest(event.id, in: request.room) {
                        isUnknown = true
                    }
                    let index = missing.lastIndex { Self.isSame($0.content, event.content) }
                    guard index != nil || missing.contains(where: { Self.mayBeSame($0.content, event.content) }),
                        try await !store.isOwnRequest(event.id, in: request.room)
                    else { continue }
                    if let index {
                        found[missing.remove(at: index).transaction] = event.id
                    } else {
                        isUnknown = true
                    }
                }
                return !missing.isEmpty
            }
        } catch let error as DeliveryError where error == DeliveryReason.mayBeSent.error {
            isUnknown = true
        }
        let isUncertain = !missing.isEmpty && (isUnknown || !isWhole)
        try await former.note(found, of: request, isOver: true)
        if isUncertain { throw DeliveryReason.mayBeSent.error }
        return found
    }

    /// Whether two contents are of the same message. What is uploaded anew with each attempt, such as posters, differs.
    private static func isSame(_ content: JSONValue, _ other: JSONValue) -> Bool {
        hasSameText(content, other) && content["url"] == other["url"]
            && content["file"]?["url"] == other["file"]?["url"]
    }

    /// Whether an event with an encrypted file may be a message that is queued with an unencrypted one: each attempt to
    /// send it into an encrypted room uploads the file to another address.
    private static func mayBeSame(_ content: JSONValue, _ other: JSONValue) -> Bool {
        hasSameText(content, other) && content["url"] != nil && other["file"] != nil
            && content["info"]?["size"] == other["info"]?["size"]
    }

    private static func hasSameText(_ content: JSONValue, _ other: JSONValue) -> Bool {
        ["msgtype", "body", "formatted_body", "filename", "m.relates_to"].allSatisfy { content[$0] == other[$0] }
    }

    /// Searches the newest gap for events that a limited sync skipped.
    private func skippedMessages(
        _ transactions: Set<TransactionID>, in room: RoomID, queuedAt: Date
    ) async throws -> [TransactionID: MessageID] {
        let earliest = queuedAt.addingTimeInterval(-Self.clockSkew)
        guard let gap = try await store.lastGap(in: room) else { return [:] }
        let behind = try await store.messages(in: room, after: gap.position - 1, limit: 1).messages.first
        guard behind.map({ $0.sentAt > earliest }) ?? true else { return [:] }
        return try await sentMessages(transactions, in: room, queuedAt: queuedAt, before: token(of: gap, in: room))
    }

    /// Searches history from a token back to when the request was queued.
    /// - Throws: ``DeliveryReason/mayBeSent`` if some are not in the part of it that may be requested.
    private func sentMessages(
        _ transactions: Set<TransactionID>, in room: RoomID, queuedAt: Date, before start: String?
    ) async throws -> [TransactionID: MessageID] {
        var found: [TransactionID: MessageID] = [:]
        let earliest = queuedAt.addingTimeInterval(-Self.clockSkew)
        let isWhole = try await search(room, since: earliest, before: start) { events in
            for event in events where event.sender == ownUserID {
                guard let text = event.unsigned["transaction_id"]?.string else { continue }
                let transaction = TransactionID(text)
                if transactions.contains(transaction) { found[transaction] = event.id }
            }
            return found.count < transactions.count
        }
        guard isWhole else { throw DeliveryReason.mayBeSent.error }
        return found
    }

    private func token(of gap: TimelineGap, in room: RoomID) async throws -> String? {
        guard let event = gap.eventBehind else { return gap.token }
        return try await lookup { try await client.context(of: event, in: room, limit: 1).older }
    }

    /// Requests part of the history. A server that cannot return it has not rejected the message.
    private func lookup<Value>(_ request: () async throws -> Value) async throws -> Value {
        do {
            return try await request()
        } catch let error as MatrixError {
            guard case .rejected(let status, _, _) = error, status != 403, !error.isBlockedForNow else { throw error }
            throw DeliveryReason.mayBeSent.error
        }
    }

    /// Reads history backward.
    /// - Parameters:
    ///   - start: A token, or `nil` for the end of the history.
    ///   - handle: Receives the events of a page, newest first; returns whether to go on.
    /// - Returns: `false` if the history goes on behind the last page that may be requested.
    private func search(
        _ room: RoomID, since earliest: Date, before start: String?, _ handle: ([MatrixEvent]) async throws -> Bool
    ) async throws -> Bool {
        var token = start
        for _ in 0..<Self.maxPages {
            let page = try await lookup { try await client.history(of: room, before: token, limit: Self.pageSize) }
            // The time of one event proves nothing: its sender's server sets it.
            let mayBeLater = page.events.isEmpty || page.events.contains { $0.sentAt > earliest }
            guard try await handle(page.events), mayBeLater, let next = page.next else { return true }
            token = next
        }
        return false
    }
}
