import ChatCore
import GRDB

/// The user's scroll position in each room. A room at its newest message has no row.
struct ScrollPositionTable {
    let db: Database

    func position(in room: RoomRecord) throws -> ScrollPosition? {
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT message, offset FROM readingPlace WHERE room = ?"), arguments: [room.key])
        return try row.map { ScrollPosition(message: try $0.identifier("message"), offset: try $0.value("offset")) }
    }

    func set(_ position: ScrollPosition?, in room: RoomRecord) throws {
        guard let position, position.offset.isFinite else {
            return try db.execute(sql: "DELETE FROM readingPlace WHERE room = ?", arguments: [room.key])
        }
        try db.execute(
            sql: """
                INSERT INTO readingPlace (room, message, offset) VALUES (?, ?, ?)
                ON CONFLICT (room) DO UPDATE SET message = excluded.message, offset = excluded.offset
                """, arguments: [room.key, position.message.rawValue, position.offset])
    }
}
