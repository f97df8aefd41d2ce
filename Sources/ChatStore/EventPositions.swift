import ChatCore
import GRDB

/// Where in a room something happened: a message at its own position, what is no message by itself (a reaction, an edit,
/// state that nobody is told of) at that of the message before it.
///
/// Right behind a gap, with nothing known before, that is the position before the gap's: what is filled in goes there or
/// before it, and was said earlier.
struct EventPositions {
    let record: RoomRecord
    let db: Database

    /// nil if it is not known.
    func message(_ id: MessageID) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT key FROM message WHERE room = ? AND id = ?"),
            arguments: [record.key, id.rawValue]
        ).map { MessageKey(raw: $0).position }
    }

    /// The same of what is no message.
    func silent(_ id: MessageID) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT position FROM silent WHERE room = ? AND event = ?"),
            arguments: [record.key, id.rawValue])
    }

    /// Up to where everything had been said when it happened; nil if it is not known.
    func position(of id: MessageID) throws -> Int64? { try message(id) ?? silent(id) }

    /// The first position behind it; nil if it is not known.
    func start(of id: MessageID) throws -> Int64? { try message(id) ?? silent(id).map { $0 + 1 } }

    /// Keeps the place of what is no message. One that is known stays where it is.
    func note(_ id: MessageID, at position: Int64) throws {
        try db.cachedStatement(sql: "INSERT OR IGNORE INTO silent VALUES (?, ?, ?)")
            .execute(arguments: [record.key, id.rawValue, position])
    }

    /// Whether something that is no message is known to have happened there or later.
    func hasSilent(from position: Int64) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT 1 FROM silent WHERE room = ? AND position >= ? LIMIT 1"),
            arguments: [record.key, position]) != nil
    }

    /// Whether anything is known to have happened right there.
    func isOccupied(_ position: Int64) throws -> Bool {
        try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS (SELECT 1 FROM message WHERE key = ?)
                    OR EXISTS (SELECT 1 FROM silent WHERE room = ? AND position = ?)
                """,
            arguments: [MessageKey(room: record.key, position: position).raw, record.key, position]) == true
    }

    /// The position of the last of what is no message, before a position; nil without any.
    func lastSilent(before position: Int64 = .max) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT max(position) FROM silent WHERE room = ? AND position < ?"),
            arguments: [record.key, position])
    }

    /// The newest message before a position.
    func lastMessage(before position: Int64) throws -> (id: MessageID, position: Int64)? {
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT key, id FROM message WHERE key >= ? AND key < ? ORDER BY key DESC LIMIT 1"),
            arguments: [record.keys.lowerBound, MessageKey(room: record.key, position: position).raw])
        return try row.map { (try $0.identifier("id"), MessageKey(raw: try $0.value("key")).position) }
    }

    /// The position of the oldest message behind a position; nil if there is none.
    func nextMessage(after position: Int64) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT key FROM message WHERE key > ? AND key <= ? ORDER BY key LIMIT 1"),
            arguments: [MessageKey(room: record.key, position: position).raw, record.keys.upperBound]
        ).map { MessageKey(raw: $0).position }
    }
}
