import ChatCore
import Composer
import Foundation
import GRDB

/// Changes stored messages of one room. Callers check permissions.
struct MessageEditor {
    let record: RoomRecord
    let db: Database

    /// Returns the edited message, or `nil` if its content already matched.
    func edit(_ message: Message, to wording: Wording, at date: Date) throws -> Message? {
        let wording = wording.storable
        guard message.wording != wording else { return nil }
        try EditHistory(key: key(of: message), db: db).append(wording, at: date)
        try record.refreshLastMessage(in: db)
        var edited = message
        edited.edit(to: wording, at: Date(milliseconds: date.milliseconds))
        return edited
    }

    /// Applies an edit with an identifier.
    /// - Returns: The changed message, or `nil` if nothing changed.
    func edit(
        _ message: Message, to wording: Wording, _ contents: MessageMedia?, at date: Date, by edit: String
    ) throws -> Message? {
        let history = EditHistory(key: key(of: message), db: db)
        guard try history.put(edit, wording.storable, StoredMedia(contents), at: date) else { return nil }
        try record.refreshLastMessage(in: db)
        return try MessageQuery(room: record).get(message.id, in: db)
    }

    /// Stores the source text of the original version.
    /// - Returns: The changed message, or `nil` if nothing changed.
    func setWritten(_ written: WrittenText, of message: Message) throws -> Message? {
        guard !message.isDeleted, try EditHistory(key: key(of: message), db: db).setFirst(written) else { return nil }
        return try MessageQuery(room: record).get(message.id, in: db)
    }

    /// Returns the deleted message, or `nil` if it was already deleted.
    func delete(_ message: Message) throws -> Message? {
        guard !message.isDeleted else { return nil }
        let key = key(of: message)
        guard message.event == nil else {
            // Redacting a state event removes its content, not the event.
            try RoomEvent.erase(of: key, in: db)
            return try MessageQuery(room: record).get(message.id, in: db)
        }
        try db.execute(
            sql: "UPDATE message SET isDeleted = 1, text = '', formatted = NULL WHERE key = ?", arguments: [key])
        try SealedTable(record: record, db: db).remove(message.id)
        for table in ["revision", "reaction", "repeatedReaction", "attachment", "lastEdit", "written"] {
            try db.execute(sql: "DELETE FROM \(table) WHERE message = ?", arguments: [key])
        }
        try record.refreshLastMessage(in: db)
        if try isCounted(message) {
            let level = try AttentionTable(db: db).level(of: key)
            if level != .none {
                try db.execute(
                    sql: """
                        UPDATE room SET unread = max(0, unread - 1) WHERE key = ?1
                            AND NOT EXISTS (SELECT 1 FROM member WHERE room = ?1 AND id = ?2 AND kind = 'own')
                        """, arguments: [record.key, message.sender.rawValue])
            }
            if level == .mention { try record.addMentions(-1, in: db) }
        }
        var deleted = message
        deleted.delete()
        return deleted
    }

    /// Makes a message of another user a mention, which it stays.
    func makeMention(_ message: Message) throws {
        let key = key(of: message)
        let attention = AttentionTable(db: db)
        let before = try attention.level(of: key)
        guard before != .mention, try !MemberTable(db: db).isOwn(message.sender, of: record) else { return }
        try attention.set(.mention, of: key)
        guard try isCounted(message) else { return }
        if before == .none {
            try db.execute(sql: "UPDATE room SET unread = unread + 1 WHERE key = ?", arguments: [record.key])
        }
        try record.addMentions(1, in: db)
    }

    /// Whether the unread counts include a message, if its level does: not one that was read or that is hidden.
    private func isCounted(_ message: Message) throws -> Bool {
        // Read the position again: an earlier event of the batch may have moved it.
        let read = try RoomRecord.find(record.key, in: db)?.fullyReadPosition ?? .min
        return try message.position > read && !IgnoredUserTable(db: db).contains(message.sender)
    }

    /// Returns the changed message, or `nil` if nothing changed.
    func setReaction(
        _ text: String, isAdded: Bool, to message: Message, by member: MemberID, at date: Date, id: String?
    ) throws -> Message? {
        let key = key(of: message)
        let sender = try UserRow.key(of: member, in: db)
        if isAdded {
            try storeDuplicate(text, of: key, by: sender, at: date, id: id)
            try db.execute(
                // Repeated without a redaction in between: the later one prevails.
                sql: """
                    INSERT INTO reaction VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE
                    SET id = excluded.id, givenAt = excluded.givenAt
                    WHERE id <> excluded.id AND givenAt < excluded.givenAt
                    """,
                arguments: [key, text, sender, date.milliseconds, id])
        } else {
            for table in ["repeatedReaction", "reaction"] {
                try db.execute(
                    sql: "DELETE FROM \(table) WHERE message = ? AND text = ? AND sender = ?",
                    arguments: [key, text, sender])
            }
        }
        return db.changesCount > 0 ? try MessageQuery(room: record).get(message.id, in: db) : nil
    }

    /// Stores the earlier of two reactions that differ only in their identifiers.
    private func storeDuplicate(_ text: String, of key: Int64, by sender: Int64, at date: Date, id: String?) throws {
        guard let id else { return }
        try db.cachedStatement(
            sql: """
                INSERT OR IGNORE INTO repeatedReaction
                SELECT message, iif(givenAt < ?4, id, ?5), text, sender, min(givenAt, ?4) FROM reaction
                WHERE message = ?1 AND text = ?2 AND sender = ?3 AND id <> ?5
                """
        ).execute(arguments: [key, text, sender, date.milliseconds, id])
    }

    /// Returns whether the fully-read marker moved forward.
    /// - Parameter removesMark: Whether that removes the room's unread mark.
    func markRead(at position: Int64, removesMark: Bool = true) throws -> Bool {
        guard position > record.fullyReadPosition ?? .min else { return false }
        try db.execute(sql: "UPDATE room SET readUpTo = ? WHERE key = ?", arguments: [position, record.key])
        try record.refreshUnread(after: position, in: db)
        if removesMark { try MarkedUnreadTable(db: db).removeRead(record) }
        return true
    }

    private func key(of message: Message) -> Int64 { MessageKey(room: record.key, position: message.position).raw }
}
