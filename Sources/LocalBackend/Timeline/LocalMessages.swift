import ChatCore
import ChatStore
import Composer
import MessageMarkup

/// What the user writes: messages, edits, deletions, reactions and drafts.
struct LocalMessages: Sendable {
    let gate: SerialGate
    let writer: TimelineWriter
    let media: LocalMedia
    let guide: GuideResponder

    private var store: ChatStore { writer.store }

    /// Appends messages in order: all of them or none.
    /// - Parameter draft: Becomes the room's draft in the same step.
    func send(
        _ messages: [(transaction: TransactionID, message: WrittenMessage)], to room: RoomID, leaving draft: SavedDraft?
    ) async throws -> [Message] {
        for (_, message) in messages {
            try ChatLimits.check(message)
            // A stored message must not refer to missing files.
            for file in message.files { try media.requireContent(of: file) }
        }
        return try await gate.run {
            let new = messages.map { transaction, message in
                NewMessage(
                    id: MessageID(writer.makeID()), sender: LocalBackend.ownUserID,
                    text: MessageMarkup.plainText(of: message.text), sentAt: writer.now(), transactionID: transaction,
                    replyTo: message.reply?.message, kind: message.kind, written: message.text.unlessBlank,
                    attachments: message.files)
            }
            let removesDraft = messages.contains { $0.message.removesDraft }
            let appended = try await store.append(new, to: room, removingDraft: removesDraft, leaving: draft)
            let newMessages = appended.filter(\.isNew).map(\.message)
            if !newMessages.isEmpty { await publish(newMessages, in: room, .sent) }
            return appended.map(\.message)
        }
    }

    func edit(_ message: MessageID, in room: RoomID, to text: WrittenText) async throws {
        try await gate.run {
            let existing = try await store.messages([message], in: room).first
            try ChatLimits.checkMessage(text.source, attachments: existing?.attachments.count ?? 0)
            let edited = try await store.edit(
                message, in: room, to: Wording(MessageMarkup.plainText(of: text), written: text.unlessBlank),
                by: LocalBackend.ownUserID, at: writer.now())
            if let edited { await publish([edited], in: room, .edited) }
        }
    }

    func delete(_ message: MessageID, in room: RoomID) async throws {
        try await gate.run {
            let deleted = try await store.delete(message, in: room, by: LocalBackend.ownUserID)
            if let deleted { await publish([deleted], in: room, .deleted) }
        }
    }

    func react(_ text: String, isAdded: Bool, to message: MessageID, in room: RoomID) async throws {
        try ChatLimits.checkReaction(text)
        try await gate.run {
            let changed = try await store.setReaction(
                text, isAdded: isAdded, to: message, in: room, by: LocalBackend.ownUserID, at: writer.now())
            if let changed { writer.timelines.publish(.changed([changed]), in: room) }
        }
    }

    func saveDraft(_ draft: SavedDraft?, in room: RoomID) async throws {
        try await gate.run {
            let revision = writer.rooms.revision
            guard try await store.saveDraft(draft, in: room) else { return }
            writer.rooms.update(room, since: revision) { $0.draftPreview = draft?.listedPreview }
        }
    }

    private func publish(_ messages: [Message], in room: RoomID, _ event: GuideConversation.Event) async {
        writer.timelines.publish(.changed(messages), in: room)
        writer.rooms.refresh(room)
        await guide.notify(event, in: room)
    }
}
