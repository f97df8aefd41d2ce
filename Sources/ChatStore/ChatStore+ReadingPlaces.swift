public import ChatCore
import GRDB

extension ChatStore: ScrollPositionService {
    /// Returns the user's scroll position in the room, or `nil` for the newest message.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func scrollPosition(in room: RoomID) async throws -> ScrollPosition? {
        try await read { db in
            let record = try RoomRecord.get(room, in: db)
            let row = try Row.fetchOne(
                db.cachedStatement(sql: "SELECT message, offset FROM readingPlace WHERE room = ?"),
                arguments: [record.key])
            return try row.map { ScrollPosition(message: try $0.identifier("message"), offset: try $0.value("offset")) }
        }
    }

    /// Stores the scroll position, which changes often: a power loss may restore the previous one.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func saveScrollPosition(_ position: ScrollPosition?, in room: RoomID) async throws {
        try await writeCache { db in
            let record = try RoomRecord.get(room, in: db)
            guard let position, position.offset.isFinite else {
                return try db.execute(sql: "DELETE FROM readingPlace WHERE room = ?", arguments: [record.key])
            }
            try db.execute(
                sql: """
                    INSERT INTO readingPlace (room, message, offset) VALUES (?, ?, ?)
                    ON CONFLICT (room) DO UPDATE SET message = excluded.message, offset = excluded.offset
                    """, arguments: [record.key, position.message.rawValue, position.offset])
        }
    }
}
