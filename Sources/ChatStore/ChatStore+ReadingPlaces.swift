public import ChatCore
import GRDB

extension ChatStore: ReadingPlaceService {
    /// Where the user reads in the room; nil at the newest message.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func readingPlace(in room: RoomID) async throws -> ReadingPlace? {
        try await read { db in
            let record = try RoomRecord.get(room, in: db)
            let row = try Row.fetchOne(
                db.cachedStatement(sql: "SELECT message, offset FROM readingPlace WHERE room = ?"),
                arguments: [record.key])
            return try row.map { ReadingPlace(message: try $0.identifier("message"), offset: try $0.value("offset")) }
        }
    }

    /// After a loss of power it may be the one before: it changes with each move of a wheel.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func saveReadingPlace(_ place: ReadingPlace?, in room: RoomID) async throws {
        try await writeCache { db in
            let record = try RoomRecord.get(room, in: db)
            guard let place, place.offset.isFinite else {
                return try db.execute(sql: "DELETE FROM readingPlace WHERE room = ?", arguments: [record.key])
            }
            try db.execute(
                sql: """
                    INSERT INTO readingPlace (room, message, offset) VALUES (?, ?, ?)
                    ON CONFLICT (room) DO UPDATE SET message = excluded.message, offset = excluded.offset
                    """, arguments: [record.key, place.message.rawValue, place.offset])
        }
    }
}
