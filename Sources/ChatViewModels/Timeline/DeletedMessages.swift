public import ChatCore

/// Messages that an update deletes and that may have files, loaded or not: what plays of them goes on out of view.
///
/// A message that is being sent is not deleted: the server's event replaces it.
public nonisolated struct DeletedMessages: Equatable, Sendable {
    public private(set) var ids: Set<MessageID> = []
    /// Of those that were written here, as far as known.
    public private(set) var transactions: Set<TransactionID> = []

    public var isEmpty: Bool { ids.isEmpty }

    /// - Parameters:
    ///   - loaded: the loaded messages before the update.
    ///   - failed: the failed messages before the update.
    init(_ update: TimelineUpdate, _ loaded: LoadedMessages, _ failed: FailedMessages) {
        switch update {
        case .opened(let page, _, _): for message in page.messages where message.isDeleted { note(message) }
        case .changed(let messages):
            for message in messages where message.isDeleted {
                if let known = loaded.message(message.id) { noteFiles(of: known) } else { note(message) }
            }
        case .removed(let ids):
            for id in ids {
                if let message = loaded.message(id) {
                    noteFiles(of: message)
                } else {
                    self.ids.insert(id)
                    if let transaction = failed.transaction(of: id) { transactions.insert(transaction) }
                }
            }
        default: break
        }
    }

    private mutating func noteFiles(of message: Message) {
        if !message.attachments.isEmpty, message.delivery != .sending { note(message) }
    }

    private mutating func note(_ message: Message) {
        ids.insert(message.id)
        if let transaction = message.transactionID { transactions.insert(transaction) }
    }
}
