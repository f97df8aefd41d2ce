public import ChatCore

/// Reactions, retries, links and edit history.
extension TimelineViewModel {
    func react(_ text: String, to id: MessageID) {
        guard let item = rows.message(id), item.canReact, ChatLimits.isValidReaction(text) else { return }
        let hasReacted = item.reactions.contains { $0.text == text && $0.isOwn }
        perform { [roomID] service in try await service.react(text, isAdded: !hasReacted, to: id, in: roomID) }
    }

    func retry(_ id: MessageID) {
        guard let item = rows.message(id), let rejectedItem = item.rejectedItem else { return }
        let transaction = rejectedItem == .message ? item.transactionID : item.pendingChange?.transaction
        perform { [roomID] service in try await service.retry(transaction, in: roomID) }
    }

    func discard(_ id: MessageID) {
        guard let item = rows.message(id) else { return }
        if item.upload != nil {
            perform { [roomID] service in try await service.delete(id, in: roomID) }
        } else if let change = item.pendingChange, change.isRejected {
            perform { [roomID] service in try await service.discard(change.transaction, in: roomID) }
        }
    }

    /// Returns a link to the message.
    /// - Throws: ``ChatError``.
    public func link(to id: MessageID) async throws -> String { try await service.link(to: id, in: roomID) }

    /// Returns the revisions of a message, newest first, each as a diff against the one before it.
    /// - Throws: ``ChatError``.
    public func history(of id: MessageID) async throws -> [MessageVersion] {
        let before = try await service.revisions(of: id, in: roomID)
        guard let message = try await service.messages([id], in: roomID).first, !message.isDeleted else {
            throw ChatError.notFound
        }
        let now = MessageRevision(message.wording, writtenAt: message.editedAt ?? message.sentAt)
        return await MessageVersion.versions(before + [now])
    }
}
