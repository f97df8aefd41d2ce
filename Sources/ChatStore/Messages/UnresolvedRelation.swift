import ChatCore
import Foundation
import GRDB

/// Edits, deletions and reactions of messages that are not stored yet, as history is fetched newest first.
enum UnresolvedRelation {
    /// - Parameter limit: How many of a room are stored. Beyond that, the oldest of the sender with the most are removed.
    static func store(_ change: MessageChange, in record: RoomRecord, atMost limit: Int, _ db: Database) throws {
        let (kind, storedWording) =
            switch change.kind {
            case .edit(let wording): ("edit", wording.storable)
            case .deletion: ("deletion", Wording(""))
            case .reaction(let text): ("reaction", Wording(text))
            }
        try db.cachedStatement(sql: "INSERT OR IGNORE INTO orphan VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
            .execute(arguments: [
                record.key, change.target.rawValue, change.id, kind, change.sender.rawValue, change.at.milliseconds,
                storedWording.html, storedWording.text, change.content?.kind.code, change.content?.storedFiles,
                try WrittenColumn.data(of: storedWording), change.protection, change.isMention,
            ])
        let count = try Int.fetchOne(
            db.cachedStatement(sql: "SELECT count(*) FROM orphan WHERE room = ?"), arguments: [record.key])
        if let count, count > limit { try remove(count - limit, from: record, db) }
    }

    /// Not simply the oldest: a single member could send any number, dated in the future.
    private static func remove(_ excess: Int, from record: RoomRecord, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                DELETE FROM orphan WHERE room = ?1 AND (target, id) IN (
                    SELECT target, id FROM orphan WHERE room = ?1 AND sender = (
                        SELECT sender FROM orphan WHERE room = ?1 GROUP BY sender
                        ORDER BY count(*) DESC, sender LIMIT 1)
                    ORDER BY givenAt, target, id LIMIT ?2)
                """
        ).execute(arguments: [record.key, excess])
    }

    /// Removes and returns the changes of a message, in chronological order.
    static func removeAll(of message: MessageID, in record: RoomRecord, _ db: Database) throws -> [MessageChange] {
        let rows = try Row.fetchAll(
            db.cachedStatement(sql: "SELECT * FROM orphan WHERE room = ? AND target = ? ORDER BY givenAt"),
            arguments: [record.key, message.rawValue])
        guard !rows.isEmpty else { return [] }
        try db.execute(
            sql: "DELETE FROM orphan WHERE room = ? AND target = ?", arguments: [record.key, message.rawValue])
        return try rows.map { row in
            let wording = try EditHistory.wording(row)
            let kind: MessageChange.Kind =
                switch try row.value("kind") as String {
                case "edit": .edit(wording)
                case "deletion": .deletion
                default: .reaction(wording.text)
                }
            var change = MessageChange(
                id: try row.value("id"), target: message, sender: try row.identifier("sender"),
                at: try row.date("givenAt"), kind: kind,
                content: MessageMedia(kind: try row.optional("messageKind"), files: try row.optional("files")))
            change.protection = try row.value("isEncrypted")
            change.isMention = try row.flag("isMention")
            return change
        }
    }
}

extension MessageChange {
    /// How the column `isEncrypted` of `orphan` holds both: 1 if it is encrypted, plus twice the trust's severity.
    fileprivate var protection: Int64 {
        get { (isEncrypted ? 1 : 0) + 2 * (trust?.severity ?? 0) }
        set {
            isEncrypted = newValue & 1 != 0
            trust = MessageTrust.allCases.first { $0.severity == newValue >> 1 }
        }
    }
}
