import ChatCore
import GRDB

/// The users whose messages are hidden (specification, ignoring users). The messages stay stored, so that they are
/// shown and counted again once their sender is no longer ignored. Room events are shown whoever causes them.
struct IgnoredUserTable {
    /// An SQL condition: the message `m` is not hidden.
    static let isShown = "(m.kind = 7 OR m.sender NOT IN (SELECT user FROM ignoredUser))"

    let db: Database

    /// The users' keys.
    var keys: Set<Int64> {
        get throws { try Int64.fetchSet(db.cachedStatement(sql: "SELECT user FROM ignoredUser")) }
    }

    var users: Set<MemberID> {
        get throws {
            let ids = try String.fetchAll(db, sql: "SELECT u.id FROM ignoredUser i JOIN user u ON u.key = i.user")
            return Set(ids.map { MemberID($0) })
        }
    }

    /// Returns the key of a user, or `nil` if the store has nothing of them.
    func key(of user: MemberID) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT key FROM user WHERE id = ?"), arguments: [user.rawValue])
    }

    func contains(_ user: MemberID) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT 1 FROM user u JOIN ignoredUser i ON i.user = u.key WHERE u.id = ?"),
            arguments: [user.rawValue]) != nil
    }

    /// Returns which of these users are ignored.
    func users(among users: Set<MemberID>) throws -> Set<MemberID> { try users.filter { try contains($0) } }

    /// Replaces the list. The history of rooms with users who are no longer ignored becomes incomplete.
    /// - Parameter isRecent: See ``ChatStore/setIgnoredUsers(_:isRecent:)``.
    /// - Returns: The rooms in which other messages may be shown now.
    func set(_ users: Set<MemberID>, isRecent: Bool = true) throws -> [RoomRecord] {
        let listed = Set(try users.map { try UserRow.key(of: $0, in: db) })
        let known = try keys
        guard listed != known else { return [] }
        for user in listed.subtracting(known) {
            try db.cachedStatement(sql: "INSERT INTO ignoredUser VALUES (?)").execute(arguments: [user])
        }
        for user in known.subtracting(listed) {
            try db.cachedStatement(sql: "DELETE FROM ignoredUser WHERE user = ?").execute(arguments: [user])
        }
        var changed: [RoomRecord] = []
        for (room, users) in try members(among: listed.symmetricDifference(known)) {
            guard let record = try RoomRecord.find(room, in: db) else { continue }
            let incomplete = IncompleteHistory(record: record, db: db)
            for user in users.intersection(listed) {
                if isRecent { try incomplete.addNewest(of: user) } else { try incomplete.add(user) }
            }
            // Who became a member meanwhile has no row yet.
            for user in users.subtracting(listed) where try !incomplete.contains(user) { try incomplete.add(user) }
            try record.refreshLastMessage(in: db)
            try record.refreshUnread(after: record.fullyReadPosition ?? .min, in: db)
            changed.append(record)
        }
        return changed
    }

    /// Members have no index by user.
    static let roomsOfUser = """
        SELECT s.room FROM user u CROSS JOIN room r CROSS JOIN member s ON s.room = r.key AND s.id = u.id
        WHERE u.key = ?
        """

    /// How many users are looked up in each room. The list of ignored users may be long.
    private static let maxLookups = 50

    /// Returns which of these users are or were members of each room.
    private func members(among users: Set<Int64>) throws -> [Int64: Set<Int64>] {
        var found: [Int64: Set<Int64>] = [:]
        guard users.count > Self.maxLookups else {
            let statement = try db.cachedStatement(sql: Self.roomsOfUser)
            for user in users {
                for room in try Int64.fetchAll(statement, arguments: [user]) { found[room, default: []].insert(user) }
            }
            return found
        }
        // One pass over all members.
        let rows = try Row.fetchCursor(db, sql: "SELECT s.room, u.key AS user FROM member s JOIN user u ON u.id = s.id")
        while let row = try rows.next() {
            let (room, user): (Int64, Int64) = (try row.value("room"), try row.value("user"))
            if users.contains(user) { found[room, default: []].insert(user) }
        }
        return found
    }
}
