import ChatCore

/// Changes single messages through the backend, and fetches what a row does not show: the history and the link.
final class MessageOperations {
    nonisolated enum Output: Equatable, Sendable {
        /// The address of a message.
        case link(String)
        /// The revisions of a message, newest first.
        case history([MessageVersion])
        case failed(ChatError)
    }

    private let roomID: RoomID
    private let service: any TimelineBackend
    private let onOutput: (Output) -> Void

    init(roomID: RoomID, service: any TimelineBackend, onOutput: @escaping (Output) -> Void) {
        self.roomID = roomID
        self.service = service
        self.onOutput = onOutput
    }

    /// Adds a reaction, or removes the user's own.
    func react(_ text: String, to item: MessageItem) {
        guard item.canReact, ChatLimits.isValidReaction(text) else { return }
        let hasReacted = item.hasOwnReaction(text)
        perform { [roomID] in try await $0.react(text, isAdded: !hasReacted, to: item.id, in: roomID) }
    }

    /// Retries a failed message, or a rejected change to one.
    func retry(_ item: MessageItem) {
        guard let rejectedItem = item.rejectedItem else { return }
        let transaction = rejectedItem == .message ? item.transactionID : item.pendingChange?.transaction
        perform { [roomID] in try await $0.retry(transaction, in: roomID) }
    }

    /// Retries messages in this order.
    func retry(_ transactions: [TransactionID]) {
        guard !transactions.isEmpty else { return }
        perform { [roomID] service in
            for transaction in transactions { try await service.retry(transaction, in: roomID) }
        }
    }

    /// Cancels the upload of a message's files and deletes the message; discards a rejected change.
    func discard(_ item: MessageItem) {
        if item.upload != nil {
            delete([item.id])
        } else if let change = item.pendingChange, change.isRejected {
            perform { [roomID] in try await $0.discard(change.transaction, in: roomID) }
        }
    }

    /// Deletes messages in this order.
    func delete(_ ids: [MessageID]) {
        guard !ids.isEmpty else { return }
        perform { [roomID] service in
            for id in ids { try await service.delete(id, in: roomID) }
        }
    }

    func markRead(_ id: MessageID) {
        perform { [roomID] in try await $0.markRead(id, in: roomID) }
    }

    /// Fetches the link to a message.
    func fetchLink(to id: MessageID) {
        fetch { [service, roomID] in .link(try await service.link(to: id, in: roomID)) }
    }

    /// Fetches the revisions of a message, each as a diff against the one before it.
    func fetchHistory(of id: MessageID) {
        fetch { [service, roomID] in
            let before = try await service.revisions(of: id, in: roomID)
            guard let message = try await service.messages([id], in: roomID).first, !message.isDeleted else {
                throw ChatError.notFound
            }
            let now = MessageRevision(message.wording, writtenAt: message.editedAt ?? message.sentAt)
            return .history(await MessageVersion.versions(before + [now]))
        }
    }

    private func perform(_ work: @escaping @Sendable (any TimelineBackend) async throws -> Void) {
        Task { [weak self, service] in
            do { try await work(service) } catch { self?.onOutput(.failed(ChatError(error))) }
        }
    }

    private func fetch(_ work: @escaping () async throws -> Output) {
        Task { [weak self] in
            do {
                let output = try await work()
                self?.onOutput(output)
            } catch {
                self?.onOutput(.failed(ChatError(error)))
            }
        }
    }
}
