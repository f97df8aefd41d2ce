public import ChatCore
import ChatStore
public import Composer
import MessageMarkup

extension LocalBackend {
    @discardableResult
    public func send(
        _ message: WrittenMessage, as transaction: TransactionID, to room: RoomID
    ) async throws -> Message {
        try await append([(transaction, message)], to: room, leaving: nil)[0]
    }

    public func send(
        _ messages: [(transaction: TransactionID, message: WrittenMessage)], to room: RoomID, leaving draft: SavedDraft?
    ) async throws {
        if !messages.isEmpty { _ = try await append(messages, to: room, leaving: draft) }
    }

    private func append(
        _ messages: [(transaction: TransactionID, message: WrittenMessage)], to room: RoomID, leaving draft: SavedDraft?
    ) async throws -> [Message] {
        for (_, message) in messages {
            guard ChatLimits.isValid(message) else { throw ChatError.invalidMessage }
            // A stored message must not refer to missing files.
            for file in message.files { _ = try await content(of: file) }
        }
        return try await serialized {
            let new = messages.map { transaction, message in
                NewMessage(
                    id: MessageID(makeID()), sender: Self.ownUserID, text: MessageMarkup.plainText(of: message.text),
                    sentAt: now(), transactionID: transaction, replyTo: message.reply?.message, kind: message.kind,
                    written: message.text.unlessBlank, attachments: message.files)
            }
            let removesDraft = messages.contains { $0.message.removesDraft }
            let appended = try await store.append(new, to: room, removingDraft: removesDraft, leaving: draft)
            let newMessages = appended.filter(\.isNew).map(\.message)
            if !newMessages.isEmpty {
                publish(.changed(newMessages), in: room)
                roomsChanged()
                notifyGuide(in: room, .sent)
            }
            return appended.map(\.message)
        }
    }

    public func edit(_ message: MessageID, in room: RoomID, to text: WrittenText) async throws {
        try await serialized {
            let existing = try await store.messages([message], in: room).first
            guard ChatLimits.isValidMessage(text.source, attachments: existing?.attachments.count ?? 0) else {
                throw ChatError.invalidMessage
            }
            let change = try await store.edit(
                message, in: room, to: Wording(MessageMarkup.plainText(of: text), written: text.unlessBlank),
                by: Self.ownUserID, at: now())
            guard let edited = change else { return }
            publish(.changed([edited]), in: room)
            roomsChanged()
            notifyGuide(in: room, .edited)
        }
    }

    /// No-op, like ``discard(_:in:)``: messages are stored or rejected immediately, so none are queued.
    public func retry(_ transaction: TransactionID?, in room: RoomID) async throws {}
    public func discard(_ transaction: TransactionID?, in room: RoomID) async throws {}

    public func delete(_ message: MessageID, in room: RoomID) async throws {
        try await serialized {
            guard let deleted = try await store.delete(message, in: room, by: Self.ownUserID) else { return }
            publish(.changed([deleted]), in: room)
            roomsChanged()
            notifyGuide(in: room, .deleted)
        }
    }

    /// No-op: there is nobody to notify, and the guide responds only to messages.
    public func setTyping(_ isTyping: Bool, in room: RoomID) async {}

    public func draft(in room: RoomID) async throws -> SavedDraft? {
        try await store.draft(in: room)
    }

    public func saveDraft(_ draft: SavedDraft?, in room: RoomID) async throws {
        try await serialized {
            if try await store.saveDraft(draft, in: room) { roomsChanged() }
        }
    }
}

extension LocalBackend {
    public func search(_ query: SearchQuery) async throws -> SearchPage {
        try await store.search(query)
    }

    public func members(named name: String) async throws -> Set<MemberID> {
        try await store.members(named: name)
    }
}
