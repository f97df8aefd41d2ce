import ChatCore
import Foundation
import GRDB

/// What is unsent in a room from the commit of a message on, where the message is in one file and drafts are in another:
/// kept with the message, and moved to where drafts are at once, or at the next start.
struct RestoredDraft: Codable {
    private static let setting = RoomSetting("leftDraft")

    /// Of the draft that became the message; nil if it was never kept.
    private var token: Int64?
    private var preview: String
    private var data: Data

    init(_ draft: SavedDraft, inPlaceOf sent: DraftRow?) {
        token = sent?.token
        preview = draft.preview
        data = draft.data
    }

    /// Keeps it in the history; nil for nothing that is left.
    static func set(_ draft: RestoredDraft?, of record: RoomRecord, in history: Database) throws {
        let value = try draft.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
        try setting.set(value, of: record, in: history)
    }

    /// Puts it in the place of the draft that was sent, unless another was written since.
    func move(to room: RoomID, in pending: Database) throws {
        guard try DraftRow.find(room, in: pending)?.token == token else { return }
        try DraftRow.set(SavedDraft(data: data, preview: preview), of: room, in: pending)
    }

    /// Moves what an earlier run left.
    static func moveAll(from history: DatabasePool, to pending: DatabasePool) throws {
        let rows = try history.read { db in
            try Row.fetchAll(
                db, sql: "SELECT r.id, s.value FROM roomSetting s JOIN room r ON r.key = s.room WHERE s.name = ?",
                arguments: [setting.name])
        }
        guard !rows.isEmpty else { return }
        try pending.write { db in
            for row in rows {
                let value: String = try row.value("value")
                let draft = try? JSONDecoder().decode(RestoredDraft.self, from: Data(value.utf8))
                try draft?.move(to: row.identifier("id"), in: db)
            }
        }
        try history.write { db in
            try db.execute(sql: "DELETE FROM roomSetting WHERE name = ?", arguments: [setting.name])
        }
    }
}
