import ChatCore
import Foundation
import GRDB

/// Moves the drafts out of a history in the format of the first version.
enum DraftMove {
    static func run(from history: Database, to pending: DatabasePool) throws {
        let rows = try Row.fetchAll(
            history, sql: "SELECT r.id, d.preview, d.data FROM draft d JOIN room r ON r.key = d.room")
        let drafts = try rows.map { row in
            (
                room: RoomID(try row.value("id") as String),
                draft: SavedDraft(data: try row.value("data") as Data, preview: try row.value("preview"))
            )
        }
        try pending.write { db in
            for (room, draft) in drafts { try DraftTable(db: db).set(draft, of: room) }
        }
    }
}
