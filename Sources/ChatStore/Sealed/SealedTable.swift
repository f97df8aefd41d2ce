import ChatCore
import GRDB

/// The encrypted events of a room that could not be read.
struct SealedTable {
    /// The maximum number of edits of a message, since a member could send any number of them.
    private static let maxEdits = 200
    /// How many are removed at once: each removal reads all of them.
    private static let removedEdits = 50

    let record: RoomRecord
    let db: Database

    func put(_ sealed: Ciphertext) throws {
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO sealed VALUES (?, ?, ?, ?, ?, ?)").execute(arguments: [
            record.key, sealed.event.rawValue, sealed.session, sealed.reason.rawValue, sealed.data,
            sealed.edits?.rawValue,
        ])
        guard let message = sealed.edits else { return }
        let count = try Int.fetchOne(
            db.cachedStatement(
                sql: "SELECT count(*) FROM sealed INDEXED BY sealed_edits WHERE room = ? AND edits = ?"),
            arguments: [record.key, message.rawValue])
        if let count, count > Self.maxEdits { try removeEdits(of: message) }
    }

    /// Removes the oldest edits of the sender with the most: others than the message's sender could send any number,
    /// dated in the future.
    private func removeEdits(of message: MessageID) throws {
        try db.cachedStatement(
            sql: """
                WITH edit AS MATERIALIZED (
                    SELECT event, iif(json_valid(data), json_extract(data, '$.sender'), NULL) AS sender,
                        iif(json_valid(data), json_extract(data, '$.origin_server_ts'), NULL) AS sentAt
                    FROM sealed INDEXED BY sealed_edits WHERE room = ?1 AND edits = ?2)
                DELETE FROM sealed WHERE room = ?1 AND event IN (
                    SELECT event FROM edit WHERE sender IS (
                        SELECT sender FROM edit GROUP BY sender ORDER BY count(*) DESC, sender LIMIT 1)
                    ORDER BY sentAt, event LIMIT ?3)
                """
        ).execute(arguments: [record.key, message.rawValue, Self.removedEdits])
    }

    func find(_ event: MessageID) throws -> Ciphertext? {
        try Row.fetchOne(
            db.cachedStatement(sql: "SELECT * FROM sealed WHERE room = ? AND event = ?"),
            arguments: [record.key, event.rawValue]
        ).map(Ciphertext.init)
    }

    func remove(_ event: MessageID) throws {
        try db.cachedStatement(sql: "DELETE FROM sealed WHERE room = ? AND event = ?")
            .execute(arguments: [record.key, event.rawValue])
    }

    /// Removes an event that is not displayed, such as an edit.
    /// - Returns: What was stored of it, or `nil` if nothing was.
    func removeHidden(_ event: MessageID) throws -> Ciphertext? {
        guard let sealed = try find(event) else { return nil }
        try db.cachedStatement(
            sql: """
                DELETE FROM sealed WHERE room = ?1 AND event = ?2
                    AND NOT EXISTS (SELECT 1 FROM message WHERE room = ?1 AND id = ?2)
                """
        ).execute(arguments: [record.key, event.rawValue])
        return db.changesCount > 0 ? sealed : nil
    }

    /// Whether there are edits of a message.
    func hasEdits(of message: MessageID) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT 1 FROM sealed INDEXED BY sealed_edits WHERE room = ? AND edits = ?"),
            arguments: [record.key, message.rawValue]) != nil
    }

    /// Returns a page of a session's events, ordered by ID.
    func events(of session: String, after event: String, limit: Int) throws -> [Ciphertext] {
        try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT * FROM sealed INDEXED BY sealed_session
                    WHERE room = ? AND session = ? AND event > ? ORDER BY event LIMIT ?
                    """), arguments: [record.key, session, event, limit]
        ).map(Ciphertext.init)
    }

    /// Returns the newest messages whose events have to be requested again.
    func unfetched(limit: Int) throws -> [MessageID] {
        try String.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT m.id FROM sealed s INDEXED BY sealed_unfetched
                    JOIN message m ON m.room = s.room AND m.id = s.event
                    WHERE s.room = ? AND s.data IS NULL AND s.reason = ? ORDER BY m.key DESC LIMIT ?
                    """), arguments: [record.key, SealReason.notFetched.rawValue, limit]
        ).map { MessageID($0) }
    }
}

extension Ciphertext {
    fileprivate init(_ row: Row) throws {
        self.init(
            of: try row.identifier("event"), reason: try row.choice("reason"), session: try row.optional("session"),
            data: try row.optional("data"), edits: try row.optionalIdentifier("edits"))
    }
}
