public import ChatCore
public import Composer
public import Foundation
import GRDB

extension ChatStore {
    /// What became of a message handed over.
    public struct Appended: Equatable, Sendable {
        public var message: Message
        /// False if its transaction had been stored before: `message` is that one, as it is now.
        public var isNew: Bool
    }

    /// The page that ends just before `position`, at most `limit` messages (up to 10,000).
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func messages(in room: RoomID, before position: Int64, limit: Int) async throws -> TimelinePage {
        try await read { db in
            try MessageQuery(room: RoomRecord.get(room, in: db)).page(before: position, limit: limit, in: db)
        }
    }

    /// The page that begins just after `position`, at most `limit` messages (up to 10,000).
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func messages(in room: RoomID, after position: Int64, limit: Int) async throws -> TimelinePage {
        try await read { db in
            try MessageQuery(room: RoomRecord.get(room, in: db)).page(after: position, limit: limit, in: db)
        }
    }

    /// A page with the target in its middle, at most `limit` messages (up to 10,000).
    /// - Throws: ``ChatError/notFound`` if there is no such room or message.
    public func messages(in room: RoomID, around target: TimelineTarget, limit: Int) async throws -> TimelinePage {
        try await read { db in
            let query = MessageQuery(room: try RoomRecord.get(room, in: db))
            let position =
                switch target {
                case .message(let id): try query.get(id, in: db).position
                case .date(let date): try query.position(at: date, in: db)
                }
            return try query.page(around: position, limit: limit, in: db)
        }
    }

    /// Those of the messages that there are, in the order asked for.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func messages(_ ids: [MessageID], in room: RoomID) async throws -> [Message] {
        try await read { db in
            let query = MessageQuery(room: try RoomRecord.get(room, in: db))
            return try ids.compactMap { try query.find($0, in: db) }
        }
    }

    /// Stores a message after all others of the room.
    ///
    /// - Parameter removingDraft: in the same transaction, unless the message was stored before: the draft there is
    ///   then a newer one.
    /// - Throws: ``ChatError/notFound`` without the room, ``ChatError/notPermitted`` if the sender is not in it.
    public func append(
        _ new: NewMessage, to room: RoomID, removingDraft: Bool = false
    ) async throws -> Appended {
        try await append([new], to: room, removingDraft: removingDraft)[0]
    }

    /// The same with several, in their order: all of them are stored, or none.
    /// - Parameter remainingDraft: takes the place of the draft that is removed.
    public func append(
        _ messages: [NewMessage], to room: RoomID, removingDraft: Bool = false,
        leaving remainingDraft: SavedDraft? = nil
    ) async throws -> [Appended] {
        let draft = removingDraft ? try await readPending { db in try DraftRow.find(room, in: db) } : nil
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
            if let draft {
                try db.execute(
                    sql: "UPDATE room SET sentDraft = ? WHERE key = ?", arguments: [draft.token, record.key])
            }
            try RestoredDraft.set(remainingDraft.map { RestoredDraft($0, inPlaceOf: draft) }, of: record, in: db)
            return appended
        }
        if removingDraft, appended.contains(where: \.isNew) {
            // From the commit above on the draft counts as sent: this only clears it away.
            try? await clear(draft, leaving: remainingDraft, in: room)
        }
        return appended
    }

    private func clear(_ sent: DraftRow?, leaving remainingDraft: SavedDraft?, in room: RoomID) async throws {
        guard let remainingDraft else {
            if let sent { try await writePending { db in try sent.remove(in: db) } }
            return
        }
        try await writePending { db in try RestoredDraft(remainingDraft, inPlaceOf: sent).move(to: room, in: db) }
        try await write { db in try RestoredDraft.set(nil, of: RoomRecord.get(room, in: db), in: db) }
    }

    /// Where what was fetched from a server belongs in a room's timeline.
    public enum InsertionPoint: Sendable {
        /// After all others: it is new.
        case end
        /// Before all others: it is old, and was not known yet.
        case start
    }

    /// Stores what a server told and would tell again: after a loss of power the whole batch may be missing.
    ///
    /// - Parameters:
    ///   - messages: oldest first. Those whose identifier or transaction the room has already are left out. Their
    ///     senders are, or were, members.
    ///   - settings: the store's own, set in the same transaction, such as how far the server was read.
    /// - Returns: those that are new, as they were stored.
    /// - Throws: ``ChatError/notFound`` without the room, ``ChatError/notPermitted`` if a sender was never in it.
    public func ingest(
        _ messages: [NewMessage], into room: RoomID, at insertionPoint: InsertionPoint = .end,
        settings: [String: String] = [:]
    ) async throws -> [Message] {
        try await writeCache { db in
            let record = try RoomRecord.get(room, in: db)
            var writer = try MessageWriter(to: record, allowingFormerMembers: true, in: db)
            var stored: [Message] = []
            let existenceQuery = try db.cachedStatement(
                sql: "SELECT 1 FROM message WHERE room = ?1 AND (id = ?2 OR transactionID = ?3)")
            for new in insertionPoint == .end ? messages : messages.reversed() {
                let isKnown = try Bool.fetchOne(
                    existenceQuery, arguments: [record.key, new.id.rawValue, new.transactionID?.rawValue])
                guard isKnown == nil else { continue }
                stored.append(try insertionPoint == .end ? writer.append(new) : writer.prepend(new))
            }
            try writer.finish()
            for (name, value) in settings {
                try db.execute(
                    sql: """
                        INSERT INTO setting (name, value) VALUES (?, ?)
                        ON CONFLICT (name) DO UPDATE SET value = excluded.value
                        """, arguments: [name, value])
            }
            return insertionPoint == .end ? stored : stored.reversed()
        }
    }

    /// Gives a message other words. What it said before is kept, see ``revisions(of:in:)``.
    ///
    /// - Returns: the message as it is now; nil if it had those and nothing was changed.
    /// - Throws: ``ChatError/notFound`` if there is no such message or it was deleted, ``ChatError/notPermitted`` if
    ///   it is not by `member`.
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

    /// Keeps as what the user wrote a message came to a server, by the server's name for it. One that is not known yet
    /// has it when it comes.
    ///
    /// - Returns: the message, if it is known and is another than before.
    /// - Throws: ``ChatError/notFound`` without the room.
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

    /// Empties a message and leaves its place behind: what it said, and said before, is overwritten in the file. Single
    /// words of it may stay in older parts of the search indexes, out of order and out of reach, until SQLite merges those.
    ///
    /// - Returns: the message as it is now; nil if it was deleted before and nothing was changed.
    /// - Throws: ``ChatError/notFound``, or ``ChatError/notPermitted`` if it is not by `member`.
    public func delete(_ message: MessageID, in room: RoomID, by member: MemberID) async throws -> Message? {
        try await write { db in
            let record = try RoomRecord.get(room, in: db)
            let existing = try MessageQuery(room: record).get(message, in: db)
            guard existing.sender == member, existing.event == nil else { throw ChatError.notPermitted }
            return try MessageEditor(record: record, db: db).delete(existing)
        }
    }

    /// Moves the room's read marker forward to the message, never back.
    /// - Returns: whether it moved.
    /// - Throws: ``ChatError/notFound``.
    public func markRead(_ message: MessageID, in room: RoomID) async throws -> Bool {
        try await write { db in
            let record = try RoomRecord.get(room, in: db)
            let position = try MessageQuery(room: record).get(message, in: db).position
            return try MessageEditor(record: record, db: db).markRead(at: position)
        }
    }
}
