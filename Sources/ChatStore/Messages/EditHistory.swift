import ChatCore
import Composer
import Foundation
import GRDB

/// The versions of a stored message, oldest first: the original and each edit.
///
/// Edits may arrive in any order and may be deleted. The latest remaining one counts, by timestamp and then by
/// identifier (Matrix specification, event replacements).
struct EditHistory {
    /// The message's key.
    let key: Int64
    let db: Database

    /// The history of the message that an edit changed, or `nil` if the room has no such edit.
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

    /// Reads a row with the columns `text`, `formatted` and `written`.
    static func wording(_ row: Row) throws -> Wording {
        var wording = Wording(try row.value("text"), html: try row.optional("formatted"))
        WrittenColumn.complete(&wording, try row.optional("written"))
        return wording
    }

    /// The earlier versions, oldest first; empty if the message was never edited.
    var revisions: [MessageRevision] {
        get throws {
            try Row.fetchAll(
                db, sql: "SELECT text, formatted, written, writtenAt FROM revision WHERE message = ? ORDER BY number",
                arguments: [key]
            ).map { row in MessageRevision(try Self.wording(row), writtenAt: try row.date("writtenAt")) }
        }
    }

    /// Appends a new current version.
    /// - Parameter edit: The edit's identifier; `nil` for backends without one.
    func append(
        _ wording: Wording, _ contents: StoredMedia = StoredMedia(nil), at date: Date, by edit: String? = nil
    ) throws {
        let before = try StoredMedia(now: key, in: db)
        try db.execute(
            sql: """
                INSERT INTO revision (kind, files, message, number, writtenAt, formatted, text, edit, written)
                SELECT ?, ?, key, (SELECT coalesce(max(number), 0) + 1 FROM revision WHERE message = key),
                    coalesce(editedAt, sentAt), formatted, text, (SELECT edit FROM lastEdit WHERE message = key),
                    (SELECT data FROM written WHERE message = key)
                FROM message WHERE key = ?
                """, arguments: [before.kind, before.files, key])
        try show(wording, contents, editedAt: date.milliseconds, by: edit)
    }

    /// Stores the source text of the original version.
    /// - Returns: Whether the current version changed.
    func setFirst(_ written: WrittenText) throws -> Bool {
        let first = try Row.fetchOne(
            db, sql: "SELECT number, text, written FROM revision WHERE message = ? ORDER BY number LIMIT 1",
            arguments: [key])
        if let first {
            try db.execute(
                sql: "UPDATE revision SET written = ? WHERE message = ? AND number = ?",
                arguments: [
                    try WrittenColumn.data(of: written, beside: try first.value("text")), key,
                    try first.value("number") as Int64,
                ])
            return false
        }
        guard let text = try String.fetchOne(db, sql: "SELECT text FROM message WHERE key = ?", arguments: [key])
        else { return false }
        let before = try String.fetchOne(db, sql: "SELECT data FROM written WHERE message = ?", arguments: [key])
        try setWritten(Wording(text, written: written))
        return try before != WrittenColumn.data(of: written, beside: text)
    }

    /// Stores the source text of the current version.
    func setWritten(_ wording: Wording) throws {
        if let data = try WrittenColumn.data(of: wording) {
            try db.cachedStatement(sql: "INSERT OR REPLACE INTO written VALUES (?, ?)").execute(arguments: [key, data])
        } else {
            try db.cachedStatement(sql: "DELETE FROM written WHERE message = ?").execute(arguments: [key])
        }
    }

    /// Stores the source text of a known edit that lacks it.
    /// - Returns: Whether the current version changed.
    func setWritten(_ wording: Wording, of edit: String) throws -> Bool {
        let wording = wording.storable
        guard wording.written != nil, let existing = try version(edit), existing.wording.written != wording.written,
            existing.wording.text == wording.text, existing.wording.html == wording.html
        else { return false }
        try db.execute(
            sql: "UPDATE revision SET written = ? WHERE message = ? AND edit = ?",
            arguments: [try WrittenColumn.data(of: wording), key, edit])
        guard db.changesCount == 0 else { return false }
        try setWritten(wording)
        return true
    }

    /// Inserts an edit in order, or moves a known one whose timestamp has changed.
    ///
    /// The server returns the user's own edits without their source text, which is taken over from the known edit.
    /// - Returns: Whether the current version changed.
    func put(_ edit: String, _ wording: Wording, _ contents: StoredMedia, at date: Date) throws -> Bool {
        var wording = wording
        if let existing = try version(edit) {
            let isSameText = existing.wording.text == wording.text && existing.wording.html == wording.html
            if wording.written == nil, isSameText { wording.written = existing.wording.written }
            if wording.written != nil { wording.mentionsEveryone = false }
            guard
                existing.time != date.milliseconds || existing.wording.written != wording.written
                    || existing.wording.mentionsEveryone != wording.mentionsEveryone
            else { return false }
            _ = try removeRevision(edit)
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
            try append(wording, contents, at: date, by: edit)
            return true
        }
        try insert(wording, contents, at: date.milliseconds, by: edit)
        return false
    }

    /// Removes an edit and its content.
    /// - Returns: Whether the current version changed.
    func removeRevision(_ edit: String) throws -> Bool {
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
            try Self.wording(before), try StoredMedia(before),
            editedAt: try before.flag("isEdit") ? writtenAt : nil, by: try before.optional("edit"))
        try db.execute(
            sql: "DELETE FROM revision WHERE message = ? AND number = ?",
            arguments: [key, try before.value("number") as Int64])
        return true
    }

    private func show(
        _ wording: Wording, _ contents: StoredMedia, editedAt: Int64?, by edit: String?
    ) throws {
        try db.execute(
            sql: "UPDATE message SET text = ?, formatted = ?, editedAt = ? WHERE key = ?",
            arguments: [wording.text, wording.html, editedAt, key])
        try setWritten(wording)
        try contents.show(of: key, in: db)
        if let edit {
            try db.execute(sql: "INSERT OR REPLACE INTO lastEdit VALUES (?, ?)", arguments: [key, edit])
        } else {
            try db.execute(sql: "DELETE FROM lastEdit WHERE message = ?", arguments: [key])
        }
    }

    /// Inserts an edit between the original version, which is no edit, and the current one.
    private func insert(
        _ wording: Wording, _ contents: StoredMedia, at time: Int64, by edit: String
    ) throws {
        let next = try Int64.fetchOne(
            db,
            sql: """
                SELECT min(number) FROM revision WHERE message = ?1
                    AND number > (SELECT min(number) FROM revision WHERE message = ?1)
                    AND (writtenAt, coalesce(edit, '')) > (?2, ?3)
                """, arguments: [key, time, edit])
        if let next {
            // Renumber by way of negative numbers: shifting row by row would violate the primary key.
            try db.execute(
                sql: "UPDATE revision SET number = -number - 1 WHERE message = ? AND number >= ?",
                arguments: [key, next])
            try db.execute(
                sql: "UPDATE revision SET number = -number WHERE message = ? AND number < 0", arguments: [key])
        }
        try db.execute(
            sql: """
                INSERT INTO revision (message, number, writtenAt, formatted, text, edit, written, kind, files)
                VALUES (?1, coalesce(?2, (SELECT coalesce(max(number), 0) + 1 FROM revision WHERE message = ?1)),
                    ?3, ?4, ?5, ?6, ?7, ?8, ?9)
                """,
            arguments: [
                key, next, time, wording.html, wording.text, edit,
                try WrittenColumn.data(of: wording), contents.kind, contents.files,
            ])
    }

    private func version(_ edit: String) throws -> (time: Int64, wording: Wording)? {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT m.editedAt AS time, m.text, m.formatted, w.data AS written
                    FROM lastEdit l JOIN message m ON m.key = l.message LEFT JOIN written w ON w.message = m.key
                    WHERE l.message = ?1 AND l.edit = ?2
                    UNION ALL SELECT writtenAt, text, formatted, written FROM revision WHERE message = ?1 AND edit = ?2
                    """), arguments: [key, edit])
        return try row.map { (try $0.value("time"), try Self.wording($0)) }
    }
}
