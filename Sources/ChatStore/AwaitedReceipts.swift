import ChatCore
import Foundation
import GRDB

/// Read marks at what is not known yet: it may be missing, or come with the next answer of the server.
struct AwaitedReceipts {
    /// Of one member in one room: the latest of them.
    private static let maxStored = 8
    /// Under which the user's own marks are kept.
    private static let user = ""

    let record: RoomRecord
    let db: Database

    func add(_ receipt: ReadReceipt) throws {
        try add(receipt.message, of: receipt.member.rawValue, readAt: receipt.readAt.milliseconds)
    }

    /// One of the user's own.
    func addOwnReceipt(_ event: MessageID, now: Date = Date()) throws {
        try add(event, of: Self.user, readAt: now.milliseconds)
    }

    private func add(_ event: MessageID, of member: String, readAt: Int64) throws {
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO awaitedMark VALUES (?, ?, ?, ?)")
            .execute(arguments: [record.key, event.rawValue, member, readAt])
        try db.cachedStatement(
            sql: """
                DELETE FROM awaitedMark WHERE room = ?1 AND member = ?2 AND event IN (
                    SELECT event FROM awaitedMark WHERE room = ?1 AND member = ?2
                    ORDER BY readAt DESC LIMIT -1 OFFSET ?3)
                """
        ).execute(arguments: [record.key, member, Self.maxStored])
    }

    /// Those of others that wait for an event; they wait no longer.
    func removeReceipts(at event: MessageID) throws -> [ReadReceipt] {
        let rows = try Row.fetchAll(
            db.cachedStatement(
                sql: "SELECT member, readAt FROM awaitedMark WHERE room = ?1 AND event = ?2 AND member <> ?3"),
            arguments: [record.key, event.rawValue, Self.user])
        guard !rows.isEmpty else { return [] }
        try db.execute(
            sql: "DELETE FROM awaitedMark WHERE room = ? AND event = ? AND member <> ?",
            arguments: [record.key, event.rawValue, Self.user])
        return try rows.map { row in
            ReadReceipt(member: try row.identifier("member"), message: event, readAt: try row.date("readAt"))
        }
    }

    /// Whether the user has read up to something that is not known.
    func hasOwnReceipt() throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT 1 FROM awaitedMark WHERE room = ? AND member = ? LIMIT 1"),
            arguments: [record.key, Self.user]) != nil
    }

    /// The farthest of the user's own whose event is known by now; those that are wait no longer.
    func resolveOwnReceipts() throws -> Int64? {
        let positions = EventPositions(record: record, db: db)
        var farthest: Int64?
        let waiting = try String.fetchAll(
            db.cachedStatement(sql: "SELECT event FROM awaitedMark WHERE room = ? AND member = ?"),
            arguments: [record.key, Self.user])
        for event in waiting {
            guard let position = try positions.position(of: MessageID(event)) else { continue }
            farthest = max(farthest ?? position, position)
            try db.execute(
                sql: "DELETE FROM awaitedMark WHERE room = ? AND event = ? AND member = ?",
                arguments: [record.key, event, Self.user])
        }
        return farthest
    }
}
