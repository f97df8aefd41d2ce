public import ChatCore
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
        try await write { db in
            let record = try RoomRecord.get(room, in: db)
            if let transaction = new.transactionID,
                let stored = try MessageQuery(room: record).find(transaction, in: db)
            {
                return Appended(message: stored, isNew: false)
            }
            let message = try Self.append(new, to: record, in: db)
            if removingDraft { try Self.removeDraft(of: record, in: db) }
            return Appended(message: message, isNew: true)
        }
    }

    /// Gives a message another text.
    ///
    /// - Returns: the message as it is now; nil if it had that text and nothing was changed.
    /// - Throws: ``ChatError/notFound`` if there is no such message or it was deleted, ``ChatError/notPermitted`` if
    ///   it is not by `member`.
    public func edit(
        _ message: MessageID, in room: RoomID, text: String, by member: MemberID, at date: Date
    ) async throws -> Message? {
        try await write { db in
            let record = try RoomRecord.get(room, in: db)
            let query = MessageQuery(room: record)
            var edited = try query.get(message, in: db)
            guard !edited.isDeleted else { throw ChatError.notFound }
            guard edited.sender == member else { throw ChatError.notPermitted }
            guard edited.text != text else { return nil }
            try db.execute(
                sql: "UPDATE message SET text = ?, editedAt = ? WHERE room = ? AND position = ?",
                arguments: [text, date.milliseconds, record.key, edited.position])
            try record.refreshLastMessage(in: db)
            edited.text = text
            edited.editedAt = Date(milliseconds: date.milliseconds)
            return edited
        }
    }

    /// Empties a message and leaves its place behind.
    ///
    /// - Returns: the message as it is now; nil if it was deleted before and nothing was changed.
    /// - Throws: ``ChatError/notFound``, or ``ChatError/notPermitted`` if it is not by `member`.
    public func delete(_ message: MessageID, in room: RoomID, by member: MemberID) async throws -> Message? {
        try await write { db in
            let record = try RoomRecord.get(room, in: db)
            var deleted = try MessageQuery(room: record).get(message, in: db)
            guard deleted.sender == member else { throw ChatError.notPermitted }
            guard !deleted.isDeleted else { return nil }
            try db.execute(
                sql: "UPDATE message SET isDeleted = 1, text = '' WHERE room = ? AND position = ?",
                arguments: [record.key, deleted.position])
            try record.refreshLastMessage(in: db)
            if deleted.position > record.readUpTo ?? .min {
                try db.execute(
                    sql: """
                        UPDATE room SET unread = max(0, unread - 1) WHERE key = ?1
                            AND NOT EXISTS (SELECT 1 FROM member WHERE room = ?1 AND id = ?2 AND kind = 'own')
                        """, arguments: [record.key, deleted.sender.rawValue])
            }
            deleted.isDeleted = true
            deleted.text = ""
            return deleted
        }
    }

    /// Moves the room's read marker forward to the message, never back.
    /// - Returns: whether it moved.
    /// - Throws: ``ChatError/notFound``.
    public func markRead(_ message: MessageID, in room: RoomID) async throws -> Bool {
        try await write { db in
            let record = try RoomRecord.get(room, in: db)
            let position = try MessageQuery(room: record).get(message, in: db).position
            guard position > record.readUpTo ?? .min else { return false }
            try db.execute(sql: "UPDATE room SET readUpTo = ? WHERE key = ?", arguments: [position, record.key])
            try record.refreshUnread(after: position, in: db)
            return true
        }
    }

    static func append(_ new: NewMessage, to record: RoomRecord, in db: Database) throws -> Message {
        let sender = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT key, kind FROM member WHERE room = ? AND id = ? AND hasLeft = 0"),
            arguments: [record.key, new.sender.rawValue])
        guard let sender else { throw ChatError.notPermitted }
        let last = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT max(position) FROM message WHERE room = ?"), arguments: [record.key])
        let position = (last ?? 0) + 1
        let senderKey: Int64 = try sender.value("key")
        let kind: Member.Kind = try sender.choice("kind")
        try db.cachedStatement(
            sql: """
                INSERT INTO message (room, position, id, sender, sentAt, delivery, transactionID, replyTo, text)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            record.key, position, new.id.rawValue, senderKey, new.sentAt.milliseconds, new.delivery.code,
            new.transactionID?.rawValue, new.replyTo?.rawValue, new.text,
        ])
        try record.setLastMessage(db.lastInsertedRowID, text: new.text, in: db)
        try db.cachedStatement(
            sql: "UPDATE room SET lastActivity = max(lastActivity, ?), unread = unread + ? WHERE key = ?"
        ).execute(arguments: [new.sentAt.milliseconds, kind == .own ? 0 : 1, record.key])
        return Message(
            id: new.id, roomID: record.room.id, sender: new.sender, text: new.text,
            sentAt: Date(milliseconds: new.sentAt.milliseconds), position: position,
            transactionID: new.transactionID, replyTo: new.replyTo, delivery: new.delivery)
    }
}
