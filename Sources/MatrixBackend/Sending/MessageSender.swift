import ChatCore
import ChatOutbox
import ChatStore
import Composer
import Foundation

/// Queues what the user sends and changes.
struct MessageSender: Sendable {
    let ownUserID: MemberID
    let store: ChatStore
    let outbox: Outbox
    let media: MatrixMedia
    let encryption: RoomEncryption
    let uploads: MediaUploads
    let unsent: UnsentMessages
    let observer: OutboxObserver
    let rooms: RoomListFeed
    let now: @Sendable () -> Date

    /// Queues a message, which is published as a local echo when this returns. The sync later replaces it with the
    /// event under the server's ID.
    func send(_ message: WrittenMessage, as transaction: TransactionID, to room: RoomID) async throws -> Message {
        if let existing = try await unsent.message(of: transaction, in: room, or: store) { return existing }
        let queued = try await queue([(transaction, message)], to: room, leaving: nil)[0]
        if let existing = try await unsent.message(of: transaction, in: room, or: store) { return existing }
        // The outbox observer publishes the echo in its turn.
        let request = OutboxRequest(id: transaction, room: room, action: .send(queued), queuedAt: now())
        return LocalEchoes.preview(of: queued, request, by: ownUserID)
    }

    func send(
        _ messages: [(transaction: TransactionID, message: WrittenMessage)], to room: RoomID, leaving draft: SavedDraft?
    ) async throws {
        var new: [(transaction: TransactionID, message: WrittenMessage)] = []
        for one in messages where try await unsent.message(of: one.transaction, in: room, or: store) == nil {
            new.append(one)
        }
        if !new.isEmpty { _ = try await queue(new, to: room, leaving: draft) }
    }

    private func queue(
        _ messages: [(transaction: TransactionID, message: WrittenMessage)], to room: RoomID, leaving draft: SavedDraft?
    ) async throws -> [WrittenMessage] {
        try await encryption.rejectIfUnsendable(in: room)
        let isSealed = try await encryption.isKnownOn(in: room)
        var queued: [(transaction: TransactionID, message: WrittenMessage)] = []
        for (transaction, written) in messages {
            var message = isSealed ? try await uploads.copyingFiles(of: written) : written
            message.text = await mentions.addingServers(to: message.text)
            try await check(message)
            guard excess(of: message, isEdit: false, isSealed: isSealed) <= 0 else { throw ChatError.messageTooLong }
            queued += zip(transaction.first(message.eventMessages.count), message.eventMessages).map { ($0, $1) }
        }
        observer.observe(room)
        let removesDraft = messages.contains { $0.message.removesDraft }
        try await outbox.send(queued, to: room, removingDraft: removesDraft, leaving: draft)
        if removesDraft { rooms.refresh(room) }
        return queued.map(\.message)
    }

    private var mentions: RoomMentions { RoomMentions(store: store, ownUserID: ownUserID) }

    private func check(_ message: WrittenMessage) async throws {
        try ChatLimits.check(message)
        // This would disclose the file's key to everyone in the room. Encrypted rooms receive copies instead.
        guard !message.files.contains(where: \.hasKeys) else { throw ChatError.notPermitted }
        // Referenced files must exist; `mxc:` URIs are already uploaded.
        for file in message.files where !file.uri.hasPrefix("mxc://") { _ = try await media.content(of: file) }
    }

    func excess(of message: WrittenMessage, isEdit: Bool, isSealed: Bool = false) -> Int {
        let limit = isSealed ? MatrixLimits.sealedContentBytes : MatrixLimits.contentBytes
        // An edit contains the text twice: `m.new_content` and the fallback.
        let maxSize = limit / (isEdit ? 2 : 1)
        let sizes = EventContentBuilder(ownUserID: ownUserID).contents(of: message).map {
            // A message that cannot be encoded cannot be sent, whatever its size.
            (try? $0.encoded().count) ?? .max / 2
        }
        let size = (sizes.max() ?? 0) - maxSize
        return max(size, message.text.source.utf8.count - ChatLimits.messageBytes)
    }

    func edit(_ message: MessageID, in room: RoomID, to text: WrittenText) async throws {
        try await encryption.rejectIfUnsendable(in: room)
        let isSealed = try await encryption.isKnownOn(in: room)
        let (target, existing) = try await target(message, in: room, isOwn: true)
        let text = await mentions.addingServers(to: text)
        let changed = WrittenMessage(text, kind: existing.kind, files: existing.attachments)
        try ChatLimits.checkMessage(text.source, attachments: changed.files.count)
        guard excess(of: changed, isEdit: true, isSealed: isSealed) <= 0 else { throw ChatError.messageTooLong }
        observer.observe(room)
        try await outbox.edit(target, in: room, to: text, transaction: newTransaction())
    }

    func delete(_ message: MessageID, in room: RoomID) async throws {
        // Deleting a deleted message has no effect.
        if try await displayed(message, in: room)?.isDeleted == true { return }
        let (target, _) = try await target(message, in: room, isOwn: true)
        observer.observe(room)
        try await outbox.delete(target, in: room, transaction: newTransaction())
    }

    /// Adds or removes the user's reaction.
    func react(_ text: String, isAdded: Bool, to message: MessageID, in room: RoomID) async throws {
        try ChatLimits.checkReaction(text)
        let (target, _) = try await target(message, in: room, isOwn: false)
        if case .message(let id) = target {
            let existing = try await displayed(id, in: room)
            let hasReacted = existing?.reactions.first { $0.text == text }?.senders.contains(ownUserID) ?? false
            guard hasReacted != isAdded else { return }
        }
        observer.observe(room)
        try await outbox.react(text, isAdded: isAdded, to: target, in: room, transaction: newTransaction())
    }

    /// Retries a failed or waiting request at once; `nil` retries all of the room.
    func retry(_ transaction: TransactionID?, in room: RoomID) async throws {
        try await outbox.retry(transaction, in: room)
    }

    /// Discards queued or failed requests.
    func discard(_ transaction: TransactionID?, in room: RoomID) async throws {
        try await outbox.discard(transaction, in: room) { TransactionID(UUID().uuidString.lowercased()) }
    }

    /// - Throws: ``ChatError/notFound`` if there is no such message or it was deleted, ``ChatError/notPermitted`` if it
    ///   has to be the user's own and is not.
    private func target(
        _ id: MessageID, in room: RoomID, isOwn: Bool
    ) async throws -> (target: OutboxTarget, message: Message) {
        if let transaction = LocalEchoes.transaction(of: id) {
            if let stored = try await store.message(of: transaction, in: room) { return (.message(stored.id), stored) }
            guard let echo = unsent.echo(id, in: room) else { throw ChatError.notFound }
            return (echo.target, echo.message)
        }
        guard let message = try await displayed(id, in: room), !message.isDeleted else { throw ChatError.notFound }
        guard !isOwn || message.sender == ownUserID else { throw ChatError.notPermitted }
        return (.message(id), message)
    }

    private func displayed(_ id: MessageID, in room: RoomID) async throws -> Message? {
        try await store.messages([id], in: room).first.map(unsent.displayed)
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
