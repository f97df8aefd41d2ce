import ChatCore
import Foundation
import GRDB

/// Redacted edits and reactions, which may not have arrived yet.
enum Redaction {
    /// The maximum number of redactions stored for a room; the oldest are dropped first.
    private static let maxStored = 5000

    /// Reverts an edit or reaction by its own identifier.
    ///
    /// - Parameter changed: Receives the message that changed.
    /// - Returns: Whether it was known as an edit or reaction.
    static func apply(
        _ change: String, in record: RoomRecord, at date: Date, _ db: Database, _ changed: inout Set<MessageID>
    ) throws -> Bool {
        if try contains(change, in: record, db) { return true }
        let target = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT message FROM reaction WHERE id = ? AND message BETWEEN ? AND ?"),
            arguments: [change, record.keys.lowerBound, record.keys.upperBound])
        if let target {
            try db.execute(
                // An earlier identical reaction takes its place.
                sql: """
                    REPLACE INTO reaction
                    SELECT a.message, a.text, a.sender, a.givenAt, a.id FROM repeatedReaction a
                    JOIN reaction r USING (message, text, sender) WHERE r.message = ?1 AND r.id = ?2
                    ORDER BY a.givenAt DESC LIMIT 1;
                    """, arguments: [target, change])
            try db.execute(
                sql: """
                    DELETE FROM repeatedReaction WHERE message = ?1 AND id IN (SELECT id FROM reaction WHERE message = ?1)
                    """, arguments: [target])
            try db.execute(sql: "DELETE FROM reaction WHERE message = ? AND id = ?", arguments: [target, change])
            changed.formUnion(try MessageQuery.messages([target], in: db).map(\.id))
        } else if let history = try EditHistory(of: change, in: record, db) {
            if try history.removeRevision(change) {
                try record.refreshLastMessage(in: db)
                changed.formUnion(try MessageQuery.messages([history.key], in: db).map(\.id))
            }
        } else {
            try db.execute(
                sql: "DELETE FROM repeatedReaction WHERE id = ? AND message BETWEEN ? AND ?",
                arguments: [change, record.keys.lowerBound, record.keys.upperBound])
            var isKnown = db.changesCount > 0
            try db.execute(
                sql: "DELETE FROM orphan WHERE room = ? AND id = ?", arguments: [record.key, change])
            isKnown = isKnown || db.changesCount > 0
            if let sealed = try SealedTable(record: record, db: db).removeHidden(MessageID(change)) {
                isKnown = true
                if let target = sealed.edits { changed.insert(target) }
            }
            guard isKnown else { return false }
        }
        try note(change, in: record, at: date, db)
        return true
    }

    /// Whether a change that arrives now has already been redacted.
    static func awaits(_ change: MessageChange, in record: RoomRecord, _ db: Database) throws -> Bool {
        if try contains(change.id, in: record, db) { return true }
        try db.cachedStatement(sql: "DELETE FROM orphan WHERE room = ? AND target = ? AND kind = 'deletion'")
            .execute(arguments: [record.key, change.id])
        guard db.changesCount > 0 else { return false }
        try note(change.id, in: record, at: change.at, db)
        return true
    }

    private static func contains(_ change: String, in record: RoomRecord, _ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT 1 FROM withdrawal WHERE room = ? AND change = ?"),
            arguments: [record.key, change]) != nil
    }

    private static func note(_ change: String, in record: RoomRecord, at date: Date, _ db: Database) throws {
        try db.execute(
            sql: "INSERT OR IGNORE INTO withdrawal VALUES (?, ?, ?)",
            arguments: [record.key, change, date.milliseconds])
        let count = try Int.fetchOne(
            db.cachedStatement(sql: "SELECT count(*) FROM withdrawal WHERE room = ?"), arguments: [record.key])
        guard let count, count > maxStored else { return }
        try db.execute(
            sql: """
                DELETE FROM withdrawal WHERE room = ?1 AND change IN (
                    SELECT change FROM withdrawal WHERE room = ?1 ORDER BY at LIMIT ?2)
                """, arguments: [record.key, count - maxStored])
    }
}
