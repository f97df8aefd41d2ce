import ChatCore
import GRDB

/// What a room's history may lack between the stored messages, without a gap. A server leaves out messages of ignored
/// users, and does not send them by itself when they are no longer ignored (specification, ignoring users).
///
/// Users who are ignored once more wait until they no longer are.
struct IncompleteHistory {
    /// An SQL condition: the row `h` can be completed.
    static let isCompletable = "h.user NOT IN (SELECT user FROM ignoredUser)"

    /// How many messages before the end of a room may lack others when a user is ignored.
    private static let margin = 20

    /// What may be missing.
    struct Part {
        var senders: Set<MemberID> = []
        /// The position of the last message before it, or `nil` for the beginning of the room.
        var position: Int64?
    }

    let record: RoomRecord
    let db: Database

    /// The users whose messages may be missing and can be had.
    var senders: Set<MemberID> { get throws { Set(try rows.map { try $0.identifier("id") as MemberID }) } }

    /// Returns what may be missing of these users, or `nil` if nothing is.
    func find(among senders: Set<MemberID>) throws -> Part? {
        let rows = try self.rows.filter { try senders.contains($0.identifier("id") as MemberID) }
        guard !rows.isEmpty else { return nil }
        let positions = try rows.map { try $0.optional("position") as Int64? }
        return Part(
            senders: Set(try rows.map { try $0.identifier("id") as MemberID }),
            position: positions.contains(nil) ? nil : positions.compactMap(\.self).min())
    }

    private var rows: [Row] {
        get throws {
            try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT u.id, h.position FROM incompleteHistory h JOIN user u ON u.key = h.user
                        WHERE h.room = ? AND \(Self.isCompletable)
                        """), arguments: [record.key])
        }
    }

    /// Adds what is sent from now on by a user who has just been ignored. A response before the one that brought the
    /// list may lack messages already, so it begins some messages before the end.
    func addNewest(of user: Int64) throws {
        let key = try Int64.fetchOne(
            db.cachedStatement(
                sql: "SELECT key FROM message WHERE key BETWEEN ? AND ? ORDER BY key DESC LIMIT 1 OFFSET ?"),
            arguments: [record.keys.lowerBound, record.keys.upperBound, Self.margin])
        try put(user, from: key.map { MessageKey(raw: $0).position })
    }

    /// Adds what was sent after the last stored message of a user, who was ignored from an unknown time on.
    func add(_ user: Int64) throws {
        let last = try Int64.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT key FROM message WHERE key BETWEEN ? AND ? AND sender = ? AND kind <> 7
                    ORDER BY key DESC LIMIT 1
                    """), arguments: [record.keys.lowerBound, record.keys.upperBound, user])
        try put(user, from: last.map { MessageKey(raw: $0).position })
    }

    /// Whether anything may be missing of a user, ignored or not.
    func contains(_ user: Int64) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT 1 FROM incompleteHistory WHERE room = ? AND user = ?"),
            arguments: [record.key, user]) != nil
    }

    /// Adds history that was fetched while members were ignored.
    /// - Parameters:
    ///   - position: The position of the last message before it, or `nil` for the beginning of the room.
    ///   - users: The ignored users when it was requested.
    func add(from position: Int64?, without users: Set<MemberID>) throws {
        let table = IgnoredUserTable(db: db)
        let keys = try table.keys.union(users.compactMap { try table.key(of: $0) })
        for key in keys where try isMember(key) { try put(key, from: position) }
    }

    private func isMember(_ user: Int64) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(
                sql: "SELECT 1 FROM user u JOIN member s ON s.room = ? AND s.id = u.id WHERE u.key = ?"),
            arguments: [record.key, user]) != nil
    }

    private func put(_ user: Int64, from position: Int64?) throws {
        // The least of two positions is NULL if one of them is.
        try db.cachedStatement(
            sql: """
                INSERT INTO incompleteHistory VALUES (?, ?, ?)
                ON CONFLICT (room, user) DO UPDATE SET position = min(position, excluded.position)
                """
        ).execute(arguments: [record.key, user, position])
    }

    func remove(_ users: Set<MemberID>) throws {
        for user in users {
            try db.cachedStatement(
                sql: """
                    DELETE FROM incompleteHistory AS h WHERE h.room = ? AND \(Self.isCompletable)
                        AND h.user = (SELECT key FROM user WHERE id = ?)
                    """
            ).execute(arguments: [record.key, user.rawValue])
        }
    }
}
