import ChatCore

/// Tracks the user's messages that failed to send, for bulk actions.
extension TimelineViewModel {
    struct FailedMessage {
        var position: Int64
        var transaction: TransactionID
    }

    /// Also tracks messages outside the loaded range: failed ones are at the end, which may not be loaded.
    func trackFailed(_ update: TimelineUpdate) {
        switch update {
        case .opened(let page, _, _):
            failedMessages = [:]
            note(page.messages)
        case .changed(let messages): note(messages)
        case .removed(let ids): for id in ids { failedMessages[id] = nil }
        default: return
        }
        if state.failedCount != failedMessages.count { state.failedCount = failedMessages.count }
    }

    private func note(_ messages: [Message]) {
        for message in messages {
            let isFailed = message.delivery == .failed && !message.isDeleted
            failedMessages[message.id] =
                isFailed
                ? message.transactionID.map { FailedMessage(position: message.position, transaction: $0) } : nil
        }
    }

    /// In timeline order.
    private var sortedFailedMessages: [(key: MessageID, value: FailedMessage)] {
        failedMessages.sorted { $0.value.position < $1.value.position }
    }

    func retryAll() {
        let transactions = sortedFailedMessages.map(\.value.transaction)
        guard !transactions.isEmpty else { return }
        perform { [roomID] service in
            for transaction in transactions { try await service.retry(transaction, in: roomID) }
        }
    }

    func discardAll() {
        let messages = sortedFailedMessages.map(\.key)
        guard !messages.isEmpty else { return }
        perform { [roomID] service in
            for message in messages { try await service.delete(message, in: roomID) }
        }
    }
}
