import Foundation
import GRDB

/// The versions of one stored message, oldest first: what it said at first, and what each edit made of it.
///
/// Edits that have identifiers come in any order and may be deleted: the latest of those that are left counts (Matrix
/// specification, event replacements), by its time and, at the same millisecond, by its identifier.
struct EditHistory {
    /// The message's.
    let key: Int64
    let db: Database

    /// The message that an edit changed; nil if the edit is not known in that room.
    init?(of edit: String, in record: RoomRecord, _ db: Database) throws {
        let found = try Int64.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT message FROM lastEdit WHERE edit = ?1 AND message BETWEEN ?2 AND ?3
                    UNION ALL SELECT message FROM revision WHERE edit = ?1 AND message BETWEEN ?2 AND ?3
                    """), arguments: [edit, record.keys.lowerBound, record.keys.upperBound])
        guard let found else { return nil }
        self.init(key: found, db: db)
    }

    init(key: Int64, db: Database) {
        self.key = key
        self.db = db
    }

    /// Makes a text the newest version.
    /// - Parameter edit: by which it came; nil where edits have no identifiers.
    func append(_ text: String, _ formattedText: String?, at date: Date, by edit: String? = nil) throws {
        try db.execute(
            sql: """
                INSERT INTO revision (message, number, writtenAt, formatted, text, edit)
                SELECT key, (SELECT coalesce(max(number), 0) + 1 FROM revision WHERE message = key),
                    coalesce(editedAt, sentAt), formatted, text, (SELECT edit FROM lastEdit WHERE message = key)
                FROM message WHERE key = ?
                """, arguments: [key])
        try show(text, formattedText, editedAt: date.milliseconds, by: edit)
    }

    /// Puts an edit where it belongs. One that is known is moved if its time is another than was thought.
    /// - Returns: whether the message is another than before.
    func put(_ edit: String, text: String, formattedText: String?, at date: Date) throws -> Bool {
        if let known = try time(of: edit) {
            guard known != date.milliseconds else { return false }
            _ = try takeBack(edit)
        }
        let newest = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT m.editedAt, coalesce(l.edit, '') AS edit FROM message m LEFT JOIN lastEdit l ON l.message = m.key
                    WHERE m.key = ?
                    """), arguments: [key])
        guard let newest, let editedAt = try newest.optional("editedAt") as Int64?,
            (editedAt, try newest.value("edit") as String) > (date.milliseconds, edit)
        else {
            try append(text, formattedText, at: date, by: edit)
            return true
        }
        try insert(text, formattedText, at: date.milliseconds, by: edit)
        return false
    }

    /// Takes an edit from among the versions, together with what it said.
    /// - Returns: whether the message is another than before.
    func takeBack(_ edit: String) throws -> Bool {
        try db.execute(sql: "DELETE FROM revision WHERE message = ? AND edit = ?", arguments: [key, edit])
        guard db.changesCount == 0,
            let before = try Row.fetchOne(
                db,
                sql: """
                    SELECT *, number > (SELECT min(number) FROM revision WHERE message = ?1) AS isEdit FROM revision
                    WHERE message = ?1 ORDER BY number DESC LIMIT 1
                    """, arguments: [key])
        else { return false }
        let writtenAt: Int64 = try before.value("writtenAt")
        try show(
            try before.value("text"), try before.optional("formatted"),
            editedAt: try before.flag("isEdit") ? writtenAt : nil, by: try before.optional("edit"))
        try db.execute(
            sql: "DELETE FROM revision WHERE message = ? AND number = ?",
            arguments: [key, try before.value("number") as Int64])
        return true
    }

    private func show(_ text: String, _ formattedText: String?, editedAt: Int64?, by edit: String?) throws {
        try db.execute(
            sql: "UPDATE message SET text = ?, formatted = ?, editedAt = ? WHERE key = ?",
            arguments: [text, formattedText, editedAt, key])
        if let edit {
            try db.execute(sql: "INSERT OR REPLACE INTO lastEdit VALUES (?, ?)", arguments: [key, edit])
        } else {
            try db.execute(sql: "DELETE FROM lastEdit WHERE message = ?", arguments: [key])
        }
    }

    /// Between the first version, which is no edit, and the newest.
    private func insert(_ text: String, _ formattedText: String?, at time: Int64, by edit: String) throws {
        let next = try Int64.fetchOne(
            db,
            sql: """
                SELECT min(number) FROM revision WHERE message = ?1
                    AND number > (SELECT min(number) FROM revision WHERE message = ?1)
                    AND (writtenAt, coalesce(edit, '')) > (?2, ?3)
                """, arguments: [key, time, edit])
        if let next {
            // By way of numbers that none has: a row at a time would meet the one behind it.
            try db.execute(
                sql: "UPDATE revision SET number = -number - 1 WHERE message = ? AND number >= ?",
                arguments: [key, next])
            try db.execute(
                sql: "UPDATE revision SET number = -number WHERE message = ? AND number < 0", arguments: [key])
        }
        try db.execute(
            sql: """
                INSERT INTO revision (message, number, writtenAt, formatted, text, edit)
                VALUES (?1, coalesce(?2, (SELECT coalesce(max(number), 0) + 1 FROM revision WHERE message = ?1)),
                    ?3, ?4, ?5, ?6)
                """, arguments: [key, next, time, formattedText, text, edit])
    }

    private func time(of edit: String) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT m.editedAt FROM lastEdit l JOIN message m ON m.key = l.message
                    WHERE l.message = ?1 AND l.edit = ?2
                    UNION ALL SELECT writtenAt FROM revision WHERE message = ?1 AND edit = ?2
                    """), arguments: [key, edit])
    }
}
