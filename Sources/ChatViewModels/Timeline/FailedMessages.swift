import ChatCore

/// The user's messages that failed to send. Includes messages outside the loaded range: failed ones are at the end,
/// which may not be loaded.
nonisolated struct FailedMessages: Equatable, Sendable {
    private struct Entry: Equatable {
        var position: Int64
        var transaction: TransactionID
    }

    private var entries: [MessageID: Entry] = [:]

    var count: Int { entries.count }

    /// In timeline order.
    var ids: [MessageID] { sorted.map(\.key) }
    /// In timeline order.
    var transactions: [TransactionID] { sorted.map(\.value.transaction) }

    func transaction(of id: MessageID) -> TransactionID? { entries[id]?.transaction }

    private var sorted: [(key: MessageID, value: Entry)] {
        entries.sorted { $0.value.position < $1.value.position }
    }

    mutating func apply(_ update: TimelineUpdate) {
        switch update {
        case .opened(let page, _, _):
            entries = [:]
            note(page.messages)
        case .changed(let messages): note(messages)
        case .removed(let ids): for id in ids { entries[id] = nil }
        default: break
        }
    }

    private mutating func note(_ messages: [Message]) {
        for message in messages {
            let isFailed = message.delivery == .failed && !message.isDeleted
            entries[message.id] =
                isFailed ? message.transactionID.map { Entry(position: message.position, transaction: $0) } : nil
        }
    }
}
