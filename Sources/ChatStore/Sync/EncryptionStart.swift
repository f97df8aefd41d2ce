import ChatCore
import GRDB

/// Where a room's history becomes encrypted.
struct EncryptionStart {
    let record: RoomRecord
    let db: Database

    /// Returns the key of the event that enabled encryption.
    /// - Returns: `nil` if no such event is stored, or if the first stored one cannot be the first of the room, because
    ///   a message before it is encrypted.
    func key() throws -> Int64? {
        let start = try Int64.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT message FROM event WHERE message BETWEEN ? AND ? AND kind = 'encrypted'
                    ORDER BY message LIMIT 1
                    """), arguments: [record.keys.lowerBound, record.keys.upperBound])
        guard let start else { return nil }
        let isPreceded = try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT 1 FROM encryptedMessage WHERE message >= ? AND message < ? LIMIT 1"),
            arguments: [record.keys.lowerBound, start])
        return isPreceded == true ? nil : start
    }

    /// Removes the marks of messages that turn out to precede encryption: when they came, the room was known to be
    /// encrypted, and the event that enabled it was not stored yet.
    ///
    /// Only history loses its marks: the server could put anything in front of that event in a sync. A gap before that
    /// event ends the removal, as a chunk beyond it was placed by time, which its senders' servers choose. What was
    /// edited stays marked, since the edit may be more recent.
    /// - Returns: The messages that lost their marks.
    func unmark() throws -> Set<MessageID> {
        // Spares rooms in the clear the search for an event that they lack.
        guard try record.isEncrypted(in: db), let start = try key() else { return [] }
        let gap = try TimelineGap.last(in: record, upTo: MessageKey(raw: start).position, db)
        let first = gap.map { MessageKey(room: record.key, position: $0.position).raw } ?? record.keys.lowerBound
        // Arrivals of history are at most 0.
        let rows = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT m.key, m.id FROM messageTrust t JOIN message m ON m.key = t.message
                    WHERE t.message >= ? AND t.message < ? AND t.trust = ? AND m.arrival <= 0
                        AND NOT EXISTS (SELECT 1 FROM lastEdit WHERE message = t.message)
                        AND NOT EXISTS (SELECT 1 FROM revision WHERE message = t.message)
                    """), arguments: [first, start, MessageTrust.notEncrypted.rawValue])
        let delete = try db.cachedStatement(sql: "DELETE FROM messageTrust WHERE message = ?")
        return Set(
            try rows.map { row -> MessageID in
                try delete.execute(arguments: [try row.value("key") as Int64])
                return try row.identifier("id")
            })
    }
}
