public import ChatCore
public import Composer
public import Foundation

extension ChatStore {
    /// The result of storing an outgoing message.
    public struct Appended: Equatable, Sendable {
        public var message: Message
        /// `false` if a message with the same transaction was already stored; `message` is then that one in its current
        /// state.
        public var isNew: Bool
    }

    /// Returns the page of at most `limit` messages (up to 10,000) that ends just before `position`.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func messages(in room: RoomID, before position: Int64, limit: Int) async throws -> TimelinePage {
        try await read { db in
            try MessageQuery(room: RoomRecord.get(room, in: db)).page(before: position, limit: limit, in: db)
        }
    }

    /// Returns the page of at most `limit` messages (up to 10,000) that begins just after `position`.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func messages(in room: RoomID, after position: Int64, limit: Int) async throws -> TimelinePage {
        try await read { db in
            try MessageQuery(room: RoomRecord.get(room, in: db)).page(after: position, limit: limit, in: db)
        }
    }

    /// Returns a page of at most `limit` messages (up to 10,000) centered on the target.
    /// The page around a hidden message lacks it.
    /// - Throws: ``ChatError/notFound`` if there is no such room or message.
    public func messages(in room: RoomID, around target: TimelineTarget, limit: Int) async throws -> TimelinePage {
        try await read { db in
            let record = try RoomRecord.get(room, in: db)
            let query = MessageQuery(room: record)
            let position: Int64
            switch target {
            case .message(let id):
                guard let found = try EventPositions(record: record, db: db).message(id) else {
                    throw ChatError.notFound
                }
                position = found
            case .date(let date): position = try query.position(at: date, in: db)
            }
            return try query.page(around: position, limit: limit, in: db)
        }
    }

    /// Returns the position of a message, even if it is hidden, or `nil` if it is unknown.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func position(of message: MessageID, in room: RoomID) async throws -> Int64? {
        try await read { db in
            try EventPositions(record: RoomRecord.get(room, in: db), db: db).message(message)
        }
    }

    /// Returns the messages with the given identifiers, in that order; unknown and hidden ones are skipped.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func messages(_ ids: [MessageID], in room: RoomID) async throws -> [Message] {
        try await read { db in
            let query = MessageQuery(room: try RoomRecord.get(room, in: db))
            return try ids.compactMap { try query.findShown($0, in: db) }
        }
    }

    /// Appends a message to the room's timeline.
    ///
    /// - Parameter removingDraft: whether to remove the room's draft in the same transaction. The draft stays if the
    ///   message was already stored: it is newer then.
    /// - Throws: ``ChatError/notFound`` if there is no such room, ``ChatError/notPermitted`` if the sender is not a
    ///   member.
    public func append(
        _ new: NewMessage, to room: RoomID, removingDraft: Bool = false
    ) async throws -> Appended {
        try await append([new], to: room, removingDraft: removingDraft)[0]
    }

    /// Appends several messages in order, atomically.
    /// - Parameter remainingDraft: replaces the removed draft.
    public func append(
        _ messages: [NewMessage], to room: RoomID, removingDraft: Bool = false,
        leaving remainingDraft: SavedDraft? = nil
    ) async throws -> [Appended] {
        let draft = removingDraft ? try await readPending { db in try DraftTable(db: db).row(of: room) } : nil
        let appended: [Appended] = try await write { db in
            let record = try RoomRecord.get(room, in: db)
            var writer = try MessageWriter(to: record, in: db)
            let appended = try messages.map { new in
                if let transaction = new.transactionID,
                    let stored = try MessageQuery(room: record).find(transaction, in: db)
                {
                    return Appended(message: stored, isNew: false)
                }
                return Appended(message: try writer.append(new), isNew: true)
            }
            try writer.finish()
            guard removingDraft, appended.contains(where: \.isNew) else { return appended }
            if let draft { try RoomTable(db: db).setSentDraft(draft.token, of: record) }
            try RestoredDraft.set(remainingDraft.map { RestoredDraft($0, inPlaceOf: draft) }, of: record, in: db)
            return appended
        }
        if removingDraft, appended.contains(where: \.isNew) {
            // The commit above already marks the draft as sent (`room.sentDraft`); this only cleans up, so failure is
            // harmless.
            try? await clear(draft, leaving: remainingDraft, in: room)
        }
        return appended
    }

    private func clear(_ sent: DraftRow?, leaving remainingDraft: SavedDraft?, in room: RoomID) async throws {
        guard let remainingDraft else {
            if let sent { try await writePending { db in try DraftTable(db: db).remove(sent, of: room) } }
            return
        }
        try await writePending { db in try RestoredDraft(remainingDraft, inPlaceOf: sent).move(to: room, in: db) }
        try await write { db in try RestoredDraft.set(nil, of: RoomRecord.get(room, in: db), in: db) }
    }

    /// Which end of a room's timeline receives messages fetched from a server.
    public enum InsertionPoint: Sendable {
        /// After all stored messages, for new ones.
        case end
        /// Before all stored messages, for older history.
        case start
    }

    /// Stores messages that the server can return again: a power loss may drop the whole batch.
    ///
    /// - Parameters:
    ///   - messages: Oldest first. Messages whose identifier or transaction the room already has are skipped. Senders
    ///     must be current or former members.
    ///   - settings: Store settings to write in the same transaction, such as the sync token.
    /// - Returns: The newly stored messages.
    /// - Throws: ``ChatError/notFound`` if there is no such room, ``ChatError/notPermitted`` if a sender was never a
    ///   member.
    public func ingest(
        _ messages: [NewMessage], into room: RoomID, at insertionPoint: InsertionPoint = .end,
        settings: [String: String] = [:]
    ) async throws -> [Message] {
        try await writeCache { db in
            let record = try RoomRecord.get(room, in: db)
            var writer = try MessageWriter(to: record, allowingFormerMembers: true, in: db)
            var stored: [Message] = []
            let query = MessageQuery(room: record)
            for new in insertionPoint == .end ? messages : messages.reversed() {
                if try query.contains(new.id, or: new.transactionID, in: db) { continue }
                stored.append(try insertionPoint == .end ? writer.append(new) : writer.prepend(new))
            }
            try writer.finish()
            try SettingTable(db: db).set(settings)
            return insertionPoint == .end ? stored : stored.reversed()
        }
    }

    /// Edits a message. ``revisions(of:in:)`` returns its earlier versions.
    ///
    /// - Returns: The edited message, or `nil` if its content already matched.
    /// - Throws: ``ChatError/notFound`` if there is no such message or it was deleted, ``ChatError/notPermitted`` if
    ///   its sender is not `member`.
    public func edit(
        _ message: MessageID, in room: RoomID, to wording: Wording, by member: MemberID, at date: Date
    ) async throws -> Message? {
        try await write { db in
            let record = try RoomRecord.get(room, in: db)
            let existing = try MessageQuery(room: record).get(message, in: db)
            guard !existing.isDeleted, existing.event == nil else { throw ChatError.notFound }
            guard existing.sender == member else { throw ChatError.notPermitted }
            return try MessageEditor(record: record, db: db).edit(existing, to: wording, at: date)
        }
    }

    /// Stores the source text of a message that the server has accepted, by its event ID. For a message that is not
    /// stored yet, the source is applied when it arrives.
    ///
    /// - Returns: The message if it is stored and has changed, otherwise `nil`.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func setWritten(_ written: WrittenText, of message: MessageID, in room: RoomID) async throws -> Message? {
        try await write { db in
            let record = try RoomRecord.get(room, in: db)
            guard let existing = try MessageQuery(room: record).find(message, in: db) else {
                try AuthorNotes(record: record, db: db).save(written, of: message)
                return nil
            }
            return try MessageEditor(record: record, db: db).setWritten(written, of: existing)
        }
    }

    /// Whether an event is known as that of a request of this store: by its transaction, or because the server has
    /// accepted it with its author's source text.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func isOwnRequest(_ message: MessageID, in room: RoomID) async throws -> Bool {
        try await read { db in
            let record = try RoomRecord.get(room, in: db)
            if try AuthorNotes(record: record, db: db).contains(message) { return true }
            guard let stored = try MessageQuery(room: record).find(message, in: db) else { return false }
            return stored.transactionID != nil || stored.written != nil
        }
    }

    /// Deletes a message and leaves a placeholder. Its text and revisions are overwritten in the file
    /// (`secure_delete`). Single words may remain, unordered and unreachable, in older segments of the search indexes
    /// until SQLite merges them.
    ///
    /// - Returns: The deleted message, or `nil` if it was already deleted.
    /// - Throws: ``ChatError/notFound``, or ``ChatError/notPermitted`` if its sender is not `member`.
    public func delete(_ message: MessageID, in room: RoomID, by member: MemberID) async throws -> Message? {
        try await write { db in
            let record = try RoomRecord.get(room, in: db)
            let existing = try MessageQuery(room: record).get(message, in: db)
            guard existing.sender == member, existing.event == nil else { throw ChatError.notPermitted }
            return try MessageEditor(record: record, db: db).delete(existing)
        }
    }

    /// Moves the room's fully-read marker forward to the message, never back.
    /// - Returns: Whether it moved.
    /// - Throws: ``ChatError/notFound``.
    public func markRead(_ message: MessageID, in room: RoomID) async throws -> Bool {
        try await write { db in
            let record = try RoomRecord.get(room, in: db)
            let position = try MessageQuery(room: record).get(message, in: db).position
            return try MessageEditor(record: record, db: db).markRead(at: position)
        }
    }

    /// Returns the message that was sent with the transaction, if any.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func message(of transaction: TransactionID, in room: RoomID) async throws -> Message? {
        try await read { db in
            try MessageQuery(room: RoomRecord.get(room, in: db)).find(transaction, in: db)
        }
    }
}
