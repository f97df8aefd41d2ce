import ChatCore
import Foundation
import GRDB

/// The messages of one room, found by key alone.
struct MessageQuery {
    let room: RoomRecord

    /// The newest messages before `position`, or of all; at most `limit`, at most 10,000.
    func page(before position: Int64?, limit: Int, in db: Database) throws -> TimelinePage {
        // One more than wanted tells whether there are older ones.
        let found = try messages(before: position ?? .max, limit: Self.bounded(limit) + 1, in: db)
        return TimelinePage(
            messages: found.suffix(Self.bounded(limit)), hasOlder: found.count > Self.bounded(limit),
            hasNewer: try position.map { try !messages(from: $0, limit: 1, in: db).isEmpty } ?? false)
    }

    /// The oldest messages after `position`, at most `limit`, at most 10,000.
    func page(after position: Int64, limit: Int, in db: Database) throws -> TimelinePage {
        let first = position == .max ? position : position + 1
        let found = try messages(from: first, limit: Self.bounded(limit) + 1, in: db)
        return TimelinePage(
            messages: Array(found.prefix(Self.bounded(limit))),
            hasOlder: try !messages(before: first, limit: 1, in: db).isEmpty,
            hasNewer: found.count > Self.bounded(limit))
    }

    /// A page with what is at `position` in its middle.
    func page(around position: Int64, limit: Int, in db: Database) throws -> TimelinePage {
        let limit = Self.bounded(limit)
        let newer = try messages(from: position, limit: limit + 1, in: db)
        let older = try messages(before: position, limit: limit + 1, in: db)
        // What one side lacks the other may take.
        let after = min(newer.count, max(limit - limit / 2, limit - older.count))
        let before = min(older.count, limit - after)
        return TimelinePage(
            messages: older.suffix(before) + newer.prefix(after), hasOlder: older.count > before,
            hasNewer: newer.count > after)
    }

    /// The position of the first message sent at `date` or later, of the newest if there is none. Where clocks were
    /// wrong it is near it: messages are found by halving, as times have no index of their own.
    func position(at date: Date, in db: Database) throws -> Int64 {
        let bounds = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT min(position) AS first, max(position) AS last FROM message WHERE room = ?"),
            arguments: [room.key])
        guard let first: Int64 = try bounds?.optional("first"), var high: Int64 = try bounds?.optional("last") else {
            return 0
        }
        let statement = try db.cachedStatement(
            sql: "SELECT position, sentAt FROM message WHERE room = ? AND position >= ? ORDER BY position LIMIT 1")
        var low = first
        while low < high {
            let middle = low + (high - low) / 2
            guard let row = try Row.fetchOne(statement, arguments: [room.key, middle]) else { return high }
            if try row.date("sentAt") < date { low = try row.value("position") + 1 } else { high = middle }
        }
        return min(low, high)
    }

    private static func bounded(_ limit: Int) -> Int { min(max(limit, 0), 10_000) }

    private func messages(before position: Int64, limit: Int, in db: Database) throws -> [Message] {
        let statement = try db.cachedStatement(
            sql: Self.select + " WHERE m.room = ? AND m.position < ? ORDER BY m.position DESC LIMIT ?")
        return try Row.fetchAll(statement, arguments: [room.key, position, limit]).reversed().map(message)
    }

    private func messages(from position: Int64, limit: Int, in db: Database) throws -> [Message] {
        let statement = try db.cachedStatement(
            sql: Self.select + " WHERE m.room = ? AND m.position >= ? ORDER BY m.position LIMIT ?")
        return try Row.fetchAll(statement, arguments: [room.key, position, limit]).map(message)
    }

    /// - Throws: ``ChatError/notFound``.
    func get(_ id: MessageID, in db: Database) throws -> Message {
        guard let found = try find(id, in: db) else { throw ChatError.notFound }
        return found
    }

    func find(_ id: MessageID, in db: Database) throws -> Message? {
        try one(" WHERE m.room = ? AND m.id = ?", id.rawValue, in: db)
    }

    func find(_ transaction: TransactionID, in db: Database) throws -> Message? {
        try one(" WHERE m.room = ? AND m.transactionID = ?", transaction.rawValue, in: db)
    }

    private func one(_ condition: String, _ value: String, in db: Database) throws -> Message? {
        let statement = try db.cachedStatement(sql: Self.select + condition)
        return try Row.fetchOne(statement, arguments: [room.key, value]).map(message)
    }

    // LEFT JOIN, as messages decide the order of reading: by their index, never by a scan of members.
    private static let select = """
        SELECT m.position, m.id, s.id AS sender, m.sentAt, m.isDeleted, m.delivery, m.editedAt, m.transactionID,
            m.replyTo, m.text
        FROM message m LEFT JOIN member s ON s.key = m.sender
        """

    private func message(_ row: Row) throws -> Message {
        guard let delivery = Message.Delivery(code: try row.value("delivery")) else {
            throw UnreadableColumn(name: "delivery")
        }
        return Message(
            id: try row.identifier("id"), roomID: room.room.id, sender: try row.identifier("sender"),
            text: try row.value("text"), sentAt: try row.date("sentAt"), position: try row.value("position"),
            transactionID: try row.optionalIdentifier("transactionID"), replyTo: try row.optionalIdentifier("replyTo"),
            editedAt: try row.optionalDate("editedAt"), isDeleted: try row.flag("isDeleted"), delivery: delivery)
    }
}

extension Message.Delivery {
    init?(code: Int64) {
        switch code {
        case 0: self = .sent
        case 1: self = .sending
        case 2: self = .failed
        default: return nil
        }
    }

    /// As stored: 0 and 1 take no room in a row.
    var code: Int64 {
        switch self {
        case .sent: 0
        case .sending: 1
        case .failed: 2
        }
    }
}
