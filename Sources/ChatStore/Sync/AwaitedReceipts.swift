import ChatCore
import Foundation
import GRDB

/// Read receipts for events that are not stored yet, because they are in a gap or arrive with a later sync.
struct AwaitedReceipts {
    /// The maximum number of waiting receipts of a member in a room; the latest are retained.
    private static let maxStored = 8
    /// The `member` value of the user's own receipts.
    private static let user = ""

    let record: RoomRecord
    let db: Database

    func add(_ receipt: ReadReceipt) throws {
        try add(receipt.message, of: receipt.member.rawValue, readAt: receipt.readAt.milliseconds)
    }

    /// Adds a receipt of the user.
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

    /// Removes and returns the receipts of other members for an event.
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

    /// Whether a receipt of the user at one of these events is waiting.
    func hasOwnReceipt(at events: [MessageID]) throws -> Bool {
        let statement = try db.cachedStatement(
            sql: "SELECT 1 FROM awaitedMark WHERE room = ? AND event = ? AND member = ?")
        return try events.contains { event in
            try Bool.fetchOne(statement, arguments: [record.key, event.rawValue, Self.user]) != nil
        }
    }

    /// Removes the user's receipts whose events are known by now, and returns the last position among them.
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
