import ChatCore
import Foundation
import GRDB

/// Rooms that the history has lost but that have unsent content.
enum LostRooms {
    /// Recreates the rooms, to make what is unsent accessible.
    static func recover(of pending: DatabasePool, in history: DatabasePool) throws {
        let rooms = try pending.read { db in
            try String.fetchAll(db, sql: "SELECT room FROM draft UNION SELECT room FROM outbox").map { RoomID($0) }
        }
        let lost = try history.read { db in try rooms.filter { try RoomRecord.find($0, in: db) == nil } }
        guard !lost.isEmpty else { return }
        try history.write { db in
            for room in lost { try RoomTable(db: db).recreate(room, at: Date().milliseconds) }
        }
    }
}
