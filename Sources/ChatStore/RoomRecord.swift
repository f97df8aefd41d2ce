import ChatCore
import GRDB

/// What the store itself needs to know of a room to change it.
struct RoomRecord {
    let key: Int64
    let room: Room
    /// The position of the newest message read.
    let readUpTo: Int64?

    init(_ row: Row) throws {
        key = try row.value("key")
        room = Room(id: try row.identifier("id"), name: try row.value("name"), kind: try row.choice("kind"))
        readUpTo = try row.optional("readUpTo")
    }

    static func find(_ id: RoomID, in db: Database) throws -> RoomRecord? {
        let statement = try db.cachedStatement(sql: "SELECT key, id, name, kind, readUpTo FROM room WHERE id = ?")
        return try Row.fetchOne(statement, arguments: [id.rawValue]).map(RoomRecord.init)
    }

    /// - Throws: ``ChatError/notFound``.
    static func get(_ id: RoomID, in db: Database) throws -> RoomRecord {
        guard let record = try find(id, in: db) else { throw ChatError.notFound }
        return record
    }

    /// Makes the room's last message that of the newest one not deleted, after an edit or a deletion.
    func refreshLastMessage(in db: Database) throws {
        let statement = try db.cachedStatement(
            sql: "SELECT key, text FROM message WHERE room = ? AND isDeleted = 0 ORDER BY position DESC LIMIT 1")
        let last = try Row.fetchOne(statement, arguments: [key])
        try setLastMessage(last?.value("key"), text: last?.value("text"), in: db)
    }

    func setLastMessage(_ message: Int64?, text: String?, in db: Database) throws {
        try db.cachedStatement(sql: "UPDATE room SET lastMessage = ?, lastText = ? WHERE key = ?")
            .execute(arguments: [message, text?.preview, key])
    }

    /// Counts anew the messages of others after `position`; costs as much as there are messages after it.
    func refreshUnread(after position: Int64, in db: Database) throws {
        try db.cachedStatement(
            sql: """
                UPDATE room SET unread = (
                    SELECT count(*) FROM message m JOIN member s ON s.key = m.sender
                    WHERE m.room = room.key AND m.position > ? AND m.isDeleted = 0 AND s.kind <> 'own')
                WHERE key = ?
                """
        ).execute(arguments: [position, key])
    }
}

extension String {
    /// The first 200 characters, for a list. Bounded in scalars too: a character may hold any number of them.
    var preview: String {
        let start = unicodeScalars.prefix(4000)
        if start.endIndex == unicodeScalars.endIndex { return String(prefix(200)) }
        let text = String(String.UnicodeScalarView(start))
        return text.count > 200 ? String(text.prefix(200)) : String(text.dropLast())
    }
}
