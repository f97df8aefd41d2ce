import ChatCore
import GRDB

extension RoomState {
    /// Returns the state of a room; all of it is unknown if none was stored.
    static func find(of record: RoomRecord, in db: Database) throws -> RoomState {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT s.*, EXISTS (SELECT 1 FROM encryptedRoom WHERE room = r.key) AS isEncrypted
                    FROM room r LEFT JOIN roomState s ON s.room = r.key WHERE r.key = ?
                    """), arguments: [record.key])
        return try row.map(RoomState.init) ?? RoomState()
    }

    private init(_ row: Row) throws {
        self.init()
        if try row.flag("isEncrypted") {
            encryption = .on
        } else if try row.optional("isUnencrypted") as Int64? == 1 {
            encryption = .off
        }
        name = try row.optional("name")
        alias = try row.optional("alias")
        topic = try row.optional("topic")
        avatar = try row.optional("avatar")
        heroes = (try row.optional("heroes") as String? ?? "").split(separator: " ").map { MemberID(String($0)) }
        joinedCount = try row.optional("joinedCount")
        powerLevels = try row.optional("powerLevels")
        if let creator: MemberID = try row.optionalIdentifier("creator"), let date = try row.optionalDate("createdAt") {
            let privileged = (try row.optional("privilegedCreators") as String? ?? "").split(separator: " ")
            creation = Creation(
                creator: creator, at: date, privileged: Set(privileged.map { MemberID(String($0)) }))
        }
        succession = RoomSuccession(
            next: try row.optional("successor"), reason: try row.optional("successionReason"),
            previous: try row.optional("predecessor"))
    }

    /// Stores the state. Encryption that is on stays on, whatever this state says.
    func store(of record: RoomRecord, in db: Database) throws {
        if encryption == .on {
            try db.cachedStatement(sql: "INSERT OR IGNORE INTO encryptedRoom VALUES (?)").execute(arguments: [
                record.key
            ])
        }
        let privileged = creation?.privileged.map(\.rawValue).sorted().joined(separator: " ")
        try db.cachedStatement(sql: Self.insertion).execute(arguments: [
            record.key, encryption == .off, name, alias, topic, avatar,
            heroes.isEmpty ? nil : heroes.map(\.rawValue).joined(separator: " "), joinedCount, powerLevels,
            creation?.creator.rawValue, creation?.at.milliseconds, privileged, succession.next, succession.reason,
            succession.previous,
        ])
    }

    /// Writes nothing if it is stored already, as with most syncs. SQLite compares bytes, unlike Swift: the power levels
    /// of two users may differ only in the normal form of their names.
    private static let insertion: String = {
        let columns = [
            "isUnencrypted", "name", "alias", "topic", "avatar", "heroes", "joinedCount", "powerLevels", "creator",
            "createdAt", "privilegedCreators", "successor", "successionReason", "predecessor",
        ]
        let all = columns.joined(separator: ", ")
        let excluded = columns.map { "excluded.\($0)" }.joined(separator: ", ")
        return """
            INSERT INTO roomState (room, \(all)) VALUES (?\(String(repeating: ", ?", count: columns.count)))
            ON CONFLICT (room) DO UPDATE SET (\(all)) = (\(excluded)) WHERE (\(all)) IS NOT (\(excluded))
            """
    }()
}
