import ChatCore
import GRDB

/// The members of rooms, former ones included.
struct MemberTable {
    let db: Database

    /// Returns all members of a room in the order they joined.
    func members(of room: RoomRecord) throws -> [Member] {
        let statement = try db.cachedStatement(sql: Self.select + " WHERE m.room = ? ORDER BY m.key")
        return try Array(Row.fetchCursor(statement, arguments: [room.key]).map(Self.member))
    }

    /// Returns a member of a room, or `nil` if the user never was one.
    func member(_ id: MemberID, of room: RoomRecord) throws -> Member? {
        let statement = try db.cachedStatement(sql: Self.select + " WHERE m.room = ? AND m.id = ?")
        return try Row.fetchOne(statement, arguments: [room.key, id.rawValue]).map(Self.member)
    }

    /// Whether the user is or was a member of a room.
    func contains(_ id: MemberID, in room: RoomRecord) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT 1 FROM member WHERE room = ? AND id = ?"),
            arguments: [room.key, id.rawValue]) != nil
    }

    /// Returns the members who sent these messages, of any rooms.
    func senders(of messages: [Message]) throws -> [MemberID: Member] {
        let statement = try db.cachedStatement(
            sql: Self.select + " JOIN room r ON r.key = m.room WHERE r.id = ? AND m.id = ?")
        var senders: [MemberID: Member] = [:]
        for message in messages where senders[message.sender] == nil {
            senders[message.sender] = try Row.fetchOne(
                statement, arguments: [message.roomID.rawValue, message.sender.rawValue]
            ).map(Self.member)
        }
        return senders
    }

    /// Returns the members of any rooms in whose names words begin with these terms.
    func members(matching terms: SearchTerms) throws -> Set<MemberID> {
        let rows = try Row.fetchCursor(db, sql: "SELECT DISTINCT id, name FROM member")
        var found: Set<MemberID> = []
        while let row = try rows.next() {
            if terms.matchesWordStarts(of: try row.value("name")) { found.insert(try row.identifier("id")) }
        }
        return found
    }

    /// The user's own identifiers.
    var ownIDs: Set<MemberID> {
        get throws {
            Set(
                try String.fetchAll(db, sql: "SELECT DISTINCT id FROM member WHERE kind = 'own'").map { MemberID($0) })
        }
    }

    /// Whether a member of a room is the user.
    func isOwn(_ id: MemberID, of room: RoomRecord) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT kind = 'own' FROM member WHERE room = ? AND id = ?"),
            arguments: [room.key, id.rawValue]) ?? false
    }

    /// Returns the rooms that the user is a current member of.
    func rooms(with member: MemberID) throws -> [RoomID] {
        try String.fetchAll(
            db,
            sql: """
                SELECT r.id FROM member s JOIN room r ON r.key = s.room
                WHERE s.id = ? AND s.hasLeft = 0 ORDER BY r.key
                """, arguments: [member.rawValue]
        ).map { RoomID($0) }
    }

    /// Adds a member, or updates a known one.
    func put(_ member: Member, into room: RoomRecord) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO member (room, id, kind, name, hasLeft) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (room, id) DO UPDATE
                SET kind = excluded.kind, name = excluded.name, hasLeft = excluded.hasLeft
                """
        ).execute(arguments: [
            room.key, member.id.rawValue, member.kind.rawValue, member.displayName, member.hasLeft,
        ])
        try room.setAvatar(member.avatar, of: member.id, in: db)
    }

    /// Marks a member as having left.
    /// - Throws: ``ChatError/notFound`` if there is no such current member.
    func markLeft(_ member: MemberID, from room: RoomRecord) throws {
        try db.execute(
            sql: "UPDATE member SET hasLeft = 1 WHERE room = ? AND id = ? AND hasLeft = 0",
            arguments: [room.key, member.rawValue])
        guard db.changesCount > 0 else { throw ChatError.notFound }
    }

    /// Renames a member in all rooms.
    /// - Returns: The rooms in which the name changed.
    func rename(_ member: MemberID, to name: String) throws -> [RoomID] {
        let rooms = try String.fetchAll(
            db, sql: "SELECT r.id FROM member s JOIN room r ON r.key = s.room WHERE s.id = ? AND s.name <> ?",
            arguments: [member.rawValue, name])
        guard !rooms.isEmpty else { return [] }
        try db.execute(sql: "UPDATE member SET name = ? WHERE id = ?", arguments: [name, member.rawValue])
        return rooms.map { RoomID($0) }
    }

    private static let select = """
        SELECT m.id, m.name, m.kind, m.hasLeft, p.uri AS avatar FROM member m
        LEFT JOIN avatar p ON p.room = m.room AND p.member = m.id
        """

    private static func member(_ row: Row) throws -> Member {
        Member(
            id: try row.identifier("id"), displayName: try row.value("name"), kind: try row.choice("kind"),
            hasLeft: try row.flag("hasLeft"), avatar: try row.optional("avatar"))
    }
}
