import ChatCore
import GRDB

/// The messages of one room, found by key alone.
struct MessageQuery {
    let room: RoomRecord

    /// The newest messages before `position`, or of all; at most `limit`, at most 10,000.
    func page(before position: Int64?, limit: Int, in db: Database) throws -> TimelinePage {
        let limit = min(max(limit, 0), 10_000)
        // One more than wanted tells whether there are older ones.
        let statement = try db.cachedStatement(
            sql: Self.select + " WHERE m.room = ? AND m.position < ? ORDER BY m.position DESC LIMIT ?")
        let rows = try Row.fetchAll(statement, arguments: [room.key, position ?? Int64.max, limit + 1])
        return TimelinePage(messages: try rows.prefix(limit).reversed().map(message), hasOlder: rows.count > limit)
    }

    /// - Throws: ``ChatError/notFound``.
    func get(_ id: MessageID, in db: Database) throws -> Message {
        guard let found = try one(" WHERE m.room = ? AND m.id = ?", id.rawValue, in: db) else {
            throw ChatError.notFound
        }
        return found
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
