import GRDB

extension TimelineGap {
    /// Returns the stored gap, or `nil` if it has changed since `gap` was read.
    static func find(_ gap: TimelineGap, in record: RoomRecord, _ db: Database) throws -> TimelineGap? {
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT * FROM gap WHERE room = ? AND position = ? AND token = ?"),
            arguments: [record.key, gap.position, gap.token])
        return try row.map(TimelineGap.init)
    }

    /// Whether there is a gap between two positions.
    static func lies(
        between first: Int64, and last: Int64, in record: RoomRecord, _ db: Database
    ) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT 1 FROM gap WHERE room = ? AND position > ? AND position < ?"),
            arguments: [record.key, first, last]) != nil
    }

    /// Returns the last gap, of all or of those up to a position.
    static func last(in record: RoomRecord, upTo position: Int64 = .max, _ db: Database) throws -> TimelineGap? {
        try Row.fetchOne(
            db.cachedStatement(
                sql: "SELECT * FROM gap WHERE room = ? AND position <= ? ORDER BY position DESC LIMIT 1"),
            arguments: [record.key, position]
        ).map(TimelineGap.init)
    }

    /// Returns the first gap after a position.
    static func first(in record: RoomRecord, after position: Int64, _ db: Database) throws -> TimelineGap? {
        try Row.fetchOne(
            db.cachedStatement(sql: "SELECT * FROM gap WHERE room = ? AND position > ? ORDER BY position LIMIT 1"),
            arguments: [record.key, position]
        ).map(TimelineGap.init)
    }

    static func remove(between first: Int64, and last: Int64, from record: RoomRecord, _ db: Database) throws {
        try db.execute(
            sql: "DELETE FROM gap WHERE room = ? AND position > ? AND position < ?",
            arguments: [record.key, first, last])
    }

    init(_ row: Row) throws {
        self.init(
            position: try row.value("position"), token: try row.value("token"), forward: try row.optional("forward"))
    }

    func insert(into record: RoomRecord, _ db: Database) throws {
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO gap (room, position, token, forward) VALUES (?, ?, ?, ?)")
            .execute(arguments: [record.key, position, token, forward])
    }

    func remove(from record: RoomRecord, _ db: Database) throws {
        try db.execute(sql: "DELETE FROM gap WHERE room = ? AND position = ?", arguments: [record.key, position])
    }
}
