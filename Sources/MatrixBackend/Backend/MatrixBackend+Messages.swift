public import ChatCore
import ChatOutbox
import ChatStore
public import Composer
import Foundation

extension MatrixBackend {
    /// Queues a message, which is published as a local echo when this returns. The sync later replaces it by the event
    /// under the server's ID.
    @discardableResult
    public func send(
        _ message: WrittenMessage, as transaction: TransactionID, to room: RoomID
    ) async throws -> Message {
        if let existing = try await sent(transaction, in: room) { return existing }
        let queued = try await queue([(transaction, message)], to: room, leaving: nil)[0]
        if let existing = try await sent(transaction, in: room) { return existing }
        // The outbox observer publishes the echo in its turn.
        let request = OutboxRequest(id: transaction, room: room, action: .send(queued), queuedAt: now())
        return LocalEchoes.preview(of: queued, request, by: ownUserID)
    }

    public func send(
        _ messages: [(transaction: TransactionID, message: WrittenMessage)], to room: RoomID, leaving draft: SavedDraft?
    ) async throws {
        var new: [(transaction: TransactionID, message: WrittenMessage)] = []
        for one in messages where try await sent(one.transaction, in: room) == nil { new.append(one) }
        if !new.isEmpty { _ = try await queue(new, to: room, leaving: draft) }
    }

    private func queue(
        _ messages: [(transaction: TransactionID, message: WrittenMessage)], to room: RoomID, leaving draft: SavedDraft?
    ) async throws -> [WrittenMessage] {
        try await rejectIfEncrypted(room)
        var queued: [(transaction: TransactionID, message: WrittenMessage)] = []
        for (transaction, message) in messages {
            try await check(message)
            guard excess(of: message, isEdit: false) <= 0 else { throw ChatError.messageTooLong }
            queued += zip(transaction.first(message.eventMessages.count), message.eventMessages).map { ($0, $1) }
        }
        observeOutbox(room)
        let removesDraft = messages.contains { $0.message.removesDraft }
        try await outbox.send(queued, to: room, removingDraft: removesDraft, leaving: draft)
        if removesDraft { roomsChanged() }
        return queued.map(\.message)
    }

    private func check(_ message: WrittenMessage) async throws {
        try ChatLimits.check(message)
        // Referenced files must exist; `mxc:` URIs are already uploaded.
        for file in message.files where !file.uri.hasPrefix("mxc://") { _ = try await content(of: file) }
    }

    public func edit(_ message: MessageID, in room: RoomID, to text: WrittenText) async throws {
        try await rejectIfEncrypted(room)
        let (target, existing) = try await target(message, in: room, isOwn: true)
        let changed = WrittenMessage(text, kind: existing.kind, files: existing.attachments)
        try ChatLimits.checkMessage(text.source, attachments: changed.files.count)
        guard excess(of: changed, isEdit: true) <= 0 else { throw ChatError.messageTooLong }
        observeOutbox(room)
        try await outbox.edit(target, in: room, to: text, transaction: newTransaction())
    }

    public nonisolated func excess(of message: WrittenMessage, isEdit: Bool) -> Int {
        // An edit contains the text twice: `m.new_content` and the fallback.
        let maxSize = MatrixLimits.contentBytes / (isEdit ? 2 : 1)
        let sizes = MessageContent(ownUserID: ownUserID).contents(of: message).map {
            // What cannot be encoded cannot be sent, whatever its size.
            (try? $0.encoded().count) ?? .max / 2
        }
        let size = (sizes.max() ?? 0) - maxSize
        return max(size, message.text.source.utf8.count - ChatLimits.messageBytes)
    }

    public func delete(_ message: MessageID, in room: RoomID) async throws {
        // Deleting a deleted message has no effect.
        if try await store.messages([message], in: room).first.map(displayed)?.isDeleted == true { return }
        let (target, _) = try await target(message, in: room, isOwn: true)
        observeOutbox(room)
        try await outbox.delete(target, in: room, transaction: newTransaction())
    }

    public func setTyping(_ isTyping: Bool, in room: RoomID) async {
        // Typing is shown for seconds: it is not worth a retry.
        try? await client.setTyping(isTyping, by: ownUserID, in: room)
    }

    public func draft(in room: RoomID) async throws -> SavedDraft? {
        try await store.draft(in: room)
    }

    public func saveDraft(_ draft: SavedDraft?, in room: RoomID) async throws {
        if try await store.saveDraft(draft, in: room) { roomsChanged() }
    }

    /// Adds or removes the user's reaction.
    public func react(_ text: String, isAdded: Bool, to message: MessageID, in room: RoomID) async throws {
        try ChatLimits.checkReaction(text)
        try await rejectIfEncrypted(room)
        let (target, _) = try await target(message, in: room, isOwn: false)
        if case .message(let id) = target {
            let existing = try await store.messages([id], in: room).first.map(displayed)
            let isThere = existing?.reactions.first { $0.text == text }?.senders.contains(ownUserID) ?? false
            guard isThere != isAdded else { return }
        }
        observeOutbox(room)
        try await outbox.react(text, isAdded: isAdded, to: target, in: room, transaction: newTransaction())
    }

    public func revisions(of message: MessageID, in room: RoomID) async throws -> [MessageRevision] {
        if LocalEchoes.transaction(of: message) != nil { return [] }
        let revisions = try await store.revisions(of: message, in: room)
        guard let stored = try await store.messages([message], in: room).first,
            displayed(stored).wording != stored.wording,
            !displayed(stored).isDeleted
        else { return revisions }
        // Append the current text, whose edit is still queued.
        let now = MessageRevision(stored.wording, writtenAt: stored.editedAt ?? stored.sentAt)
        return revisions + [now]
    }

    public func search(_ query: SearchQuery) async throws -> SearchPage { try await store.search(query) }

    public func members(named name: String) async throws -> Set<MemberID> { try await store.members(named: name) }

    // MARK: Outbox

    public func retry(_ transaction: TransactionID?, in room: RoomID) async throws {
        try await outbox.retry(transaction, in: room)
    }

    /// Discards queued or failed requests.
    public func discard(_ transaction: TransactionID? = nil, in room: RoomID) async throws {
        try await outbox.discard(transaction, in: room) { TransactionID(UUID().uuidString.lowercased()) }
    }

    /// Publishes changes of a room's outbox items.
    func observeOutbox(_ room: RoomID) {
        guard watches[room] == nil, !isClosed else { return }
        let items = outbox.items(in: room)
        watches[room] = Task { [weak self] in
            var isFirst = true
            for await items in items {
                await self?.handleOutboxItems(items, in: room, isFirst: isFirst)
                isFirst = false
            }
        }
    }

    private func handleOutboxItems(_ items: [OutboxItem], in room: RoomID, isFirst: Bool) async {
        await serialized {
            if isFirst { await resolveStored(items, in: room) }
            let before = waiting(in: room)
            let targets = changes.update(items, in: room)
            publish(localEchoes.update(items, in: room, by: ownUserID), in: room)
            if waiting(in: room) != before { roomsChanged() }
            guard !targets.isEmpty else { return }
            var changed: [Message] = []
            for target in targets { changed += await messages(of: target, in: room) }
            if !changed.isEmpty { publish(.changed(changed), in: room) }
        }
    }

    /// A kill between the sync and the server's response leaves a message in the store and in the outbox: display it
    /// once.
    private func resolveStored(_ items: [OutboxItem], in room: RoomID) async {
        for item in items {
            guard case .send = item.request.action,
                // What cannot be read is shown twice until the outbox removes it.
                (try? await store.message(of: item.request.id, in: room)) ?? nil != nil
            else { continue }
            localEchoes.resolve(item.request.id, in: room)
        }
    }

    /// Returns the messages that a change targets, without the change. One that cannot be read is not published again:
    /// its page shows the change when it is loaded.
    private func messages(of target: OutboxTarget, in room: RoomID) async -> [Message] {
        switch target {
        case .message(let id):
            if let echo = localEchoes.localEcho(of: id, in: room) { return [echo] }
            return (try? await store.messages([id], in: room)) ?? []
        case .queued(let transaction): return (try? await sent(transaction, in: room)).map { [$0] } ?? []
        }
    }

    /// Returns a message with the user's pending changes applied.
    func displayed(_ message: Message) -> Message {
        changes.displayed(message, event: localEchoes.event(of: message), by: ownUserID)
    }

    func delivered(_ request: OutboxRequest, as delivery: MatrixOutboxBackend.Delivery) async {
        switch delivery {
        case .message(let message): await delivered(request, as: message)
        case .change(let change):
            // The server accepted the change: apply it without waiting for the sync.
            await serialized {
                if let echo = localEchoes.apply(change, in: request.room) {
                    publish(.changed([echo]), in: request.room)
                    roomsChanged()
                }
                // The sync brings the change as well.
                guard let roomChange = try? await store.apply(change, in: request.room) else { return }
                await publish(roomChange)
                if !roomChange.changed.isEmpty { roomsChanged() }
            }
        }
    }

    private func delivered(_ request: OutboxRequest, as message: MessageID) async {
        await serialized {
            if case .send(let sent) = request.action, !sent.text.isBlank,
                // Store the source before the outbox deletes it. If that fails, edits start from the rendered text.
                let updated = try? await store.setWritten(sent.text, of: message, in: request.room)
            {
                publish(.changed([updated]), in: request.room)
            }
            // The sync may have returned the event already. If that cannot be read, the next sync resolves the echo.
            let stored = (try? await store.messages([message], in: request.room)) ?? []
            guard stored.isEmpty else {
                let removed = localEchoes.resolve(stored, in: request.room)
                if !removed.isEmpty { publish(.removed(removed), in: request.room) }
                return
            }
            localEchoes.deliver(request.id, as: message, in: request.room, during: syncStatus.count)
        }
    }

    private func publish(_ change: LocalEchoes.Change, in room: RoomID) {
        if !change.removed.isEmpty { publish(.removed(change.removed), in: room) }
        if !change.changed.isEmpty { publish(.changed(change.changed), in: room) }
    }

    /// Returns the message of a transaction, stored or as a local echo.
    private func sent(_ transaction: TransactionID, in room: RoomID) async throws -> Message? {
        if let stored = try await store.message(of: transaction, in: room) { return stored }
        return localEchoes.messages(in: room).first { $0.transactionID == transaction }
    }

    /// - Throws: ``ChatError/notFound`` if there is no such message or it was deleted, ``ChatError/notPermitted`` if it
    ///   has to be the user's own and is not.
    private func target(
        _ id: MessageID, in room: RoomID, isOwn: Bool
    ) async throws -> (target: OutboxTarget, message: Message) {
        if let transaction = LocalEchoes.transaction(of: id) {
            if let stored = try await store.message(of: transaction, in: room) { return (.message(stored.id), stored) }
            guard let echo = localEchoes.messages(in: room).first(where: { $0.id == id }), !displayed(echo).isDeleted
            else {
                throw ChatError.notFound
            }
            return (localEchoes.event(of: echo).map { .message($0) } ?? .queued(transaction), echo)
        }
        guard let message = try await store.messages([id], in: room).first.map(displayed), !message.isDeleted else {
            throw ChatError.notFound
        }
        guard !isOwn || message.sender == ownUserID else { throw ChatError.notPermitted }
        return (.message(id), message)
    }

    /// Rejects what could only be sent unencrypted into an encrypted room.
    private func rejectIfEncrypted(_ room: RoomID) async throws {
        if try await store.roomState(of: room).encryption == .on { throw ChatError.notPermitted }
    }

    private func newTransaction() -> TransactionID { TransactionID(UUID().uuidString.lowercased()) }
}

extension WrittenMessage {
    /// The message split into one for each event, so each file can be deleted on its own; the text goes with the first.
    fileprivate var eventMessages: [WrittenMessage] {
        guard files.count > 1 else { return [self] }
        var first = self
        first.files = [files[0]]
        return [first]
            + files.dropFirst().map {
                WrittenMessage(WrittenText(), kind: $0.messageKind, files: [$0], origin: origin)
            }
    }
}
