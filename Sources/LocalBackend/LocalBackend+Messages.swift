public import ChatCore
import ChatStore

extension LocalBackend {
    @discardableResult
    public func send(_ message: OutgoingMessage, to room: RoomID) async throws -> Message {
        try await append([message], to: room)[0]
    }

    public func send(_ messages: [OutgoingMessage], to room: RoomID) async throws {
        if !messages.isEmpty { _ = try await append(messages, to: room) }
    }

    private func append(_ messages: [OutgoingMessage], to room: RoomID) async throws -> [Message] {
        for message in messages {
            guard ChatLimits.isValidMessage(message.text, attachments: message.attachments.count) else {
                throw ChatError.invalidMessage
            }
            // A message never refers to what is not there.
            for file in message.attachments { _ = try await content(of: file) }
        }
        return try await inTurn {
            let new = messages.map { message in
                NewMessage(
                    id: MessageID(makeID()), sender: Self.ownID, text: message.text, sentAt: now(),
                    transactionID: message.transactionID, replyTo: message.replyTo, kind: message.kind,
                    formattedText: message.formattedText, attachments: message.attachments)
            }
            let removesDraft = messages.contains { !$0.keepsDraft }
            let appended = try await store.append(new, to: room, removingDraft: removesDraft)
            let fresh = appended.filter(\.isNew).map(\.message)
            if !fresh.isEmpty {
                tell(.changed(fresh), in: room)
                roomsChanged()
                wakeGuide(in: room, .said)
            }
            return appended.map(\.message)
        }
    }

    public func edit(_ message: MessageID, in room: RoomID, text: String) async throws {
        guard ChatLimits.isValidMessage(text) else { throw ChatError.invalidMessage }
        try await inTurn {
            let change = try await store.edit(message, in: room, text: text, by: Self.ownID, at: now())
            guard let edited = change else { return }
            tell(.changed([edited]), in: room)
            roomsChanged()
            wakeGuide(in: room, .edited)
        }
    }

    /// Nothing waits here: what is sent is stored at once, or refused.
    public func retry(_ transaction: TransactionID?, in room: RoomID) async throws {}
    public func discard(_ transaction: TransactionID?, in room: RoomID) async throws {}

    public func delete(_ message: MessageID, in room: RoomID) async throws {
        try await inTurn {
            guard let deleted = try await store.delete(message, in: room, by: Self.ownID) else { return }
            tell(.changed([deleted]), in: room)
            roomsChanged()
            wakeGuide(in: room, .deleted)
        }
    }

    /// Nobody else is here to be told: the guide answers what is sent.
    public func setTyping(_ isTyping: Bool, in room: RoomID) async {}

    public func draft(in room: RoomID) async throws -> SavedDraft? {
        try await store.draft(in: room)
    }

    public func saveDraft(_ draft: SavedDraft?, in room: RoomID) async throws {
        try await inTurn {
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
