import ChatCore
import GRDB

/// The positions of events in a room. A message has its own position; a silent event (a reaction, an edit, or state
/// that is not shown) has that of the preceding message.
///
/// If a silent event comes right after a gap, it has the last position of the gap: messages that fill the gap are older
/// and go there or before.
struct EventPositions {
    let record: RoomRecord
    let db: Database

    /// Returns the position of a message, or `nil` if it is unknown.
    func message(_ id: MessageID) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT key FROM message WHERE room = ? AND id = ?"),
            arguments: [record.key, id.rawValue]
        ).map { MessageKey(raw: $0).position }
    }

    /// Returns the position of a silent event, or `nil` if it is unknown.
    func silent(_ id: MessageID) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT position FROM silent WHERE room = ? AND event = ?"),
            arguments: [record.key, id.rawValue])
    }

    /// Returns the last position that is not after the event, or `nil` if it is unknown.
    func position(of id: MessageID) throws -> Int64? { try message(id) ?? silent(id) }

    /// Returns the first position that is not before the event, or `nil` if it is unknown.
    func start(of id: MessageID) throws -> Int64? { try message(id) ?? silent(id).map { $0 + 1 } }

    /// Returns the start of the first of these events that is stored, or `nil` if all are new.
    func start(ofFirstKnown events: [TimelineEvent]) throws -> Int64? {
        for event in events {
            if let start = try event.id.flatMap({ try start(of: $0) }) { return start }
        }
        return nil
    }

    /// Stores the position of a silent event, unless it has one.
    func note(_ id: MessageID, at position: Int64) throws {
        try db.cachedStatement(sql: "INSERT OR IGNORE INTO silent VALUES (?, ?, ?)")
            .execute(arguments: [record.key, id.rawValue, position])
    }

    /// Moves a silent event, with the receipts at it.
    func move(_ id: MessageID, to position: Int64) throws {
        guard let before = try silent(id) else { return }
        try db.cachedStatement(sql: "UPDATE silent SET position = ? WHERE room = ? AND event = ?")
            .execute(arguments: [position, record.key, id.rawValue])
        try db.cachedStatement(sql: Self.moveReceipts).execute(arguments: [position, record.key, before, id.rawValue])
    }

    /// Receipts have the position of their event, by which they are found: a room may have one of each of its members.
    static let moveReceipts = """
        UPDATE receipt INDEXED BY receipt_position SET position = ?
        WHERE room = ? AND position = ? AND message = ?
        """

    /// Whether there is a silent event at a position or after it.
    func hasSilent(from position: Int64) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT 1 FROM silent WHERE room = ? AND position >= ? LIMIT 1"),
            arguments: [record.key, position]) != nil
    }

    /// Whether there is any event at a position.
    func isOccupied(_ position: Int64) throws -> Bool {
        try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS (SELECT 1 FROM message WHERE key = ?)
                    OR EXISTS (SELECT 1 FROM silent WHERE room = ? AND position = ?)
                """,
            arguments: [MessageKey(room: record.key, position: position).raw, record.key, position]) == true
    }

    /// Returns the position of the last silent event before a position, if any.
    func lastSilent(before position: Int64 = .max) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT max(position) FROM silent WHERE room = ? AND position < ?"),
            arguments: [record.key, position])
    }

    /// Returns the newest message before a position, if any.
    func lastMessage(before position: Int64) throws -> (id: MessageID, position: Int64)? {
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT key, id FROM message WHERE key >= ? AND key < ? ORDER BY key DESC LIMIT 1"),
            arguments: [record.keys.lowerBound, MessageKey(room: record.key, position: position).raw])
        return try row.map { (try $0.identifier("id"), MessageKey(raw: try $0.value("key")).position) }
    }

    /// Returns the newest message before a position that is not hidden, if any.
    func lastShownMessage(before position: Int64) throws -> MessageID? {
        try String.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT m.id FROM message m WHERE m.key >= ? AND m.key < ? AND \(IgnoredUserTable.isShown)
                    ORDER BY m.key DESC LIMIT 1
                    """),
            arguments: [record.keys.lowerBound, MessageKey(room: record.key, position: position).raw]
        ).map { MessageID($0) }
    }

    /// Returns the position of the oldest message after a position that is not hidden, if any.
    func nextShownMessage(after position: Int64) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT m.key FROM message m WHERE m.key > ? AND m.key <= ? AND \(IgnoredUserTable.isShown)
                    ORDER BY m.key LIMIT 1
                    """),
            arguments: [MessageKey(room: record.key, position: position).raw, record.keys.upperBound]
        ).map { MessageKey(raw: $0).position }
    }

    /// Returns the position of the oldest message after a position, if any.
    func nextMessage(after position: Int64) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT key FROM message WHERE key > ? AND key <= ? ORDER BY key LIMIT 1"),
            arguments: [MessageKey(room: record.key, position: position).raw, record.keys.upperBound]
        ).map { MessageKey(raw: $0).position }
    }
}
