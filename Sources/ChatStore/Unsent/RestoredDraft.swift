import ChatCore
import Foundation
import GRDB

/// The draft that remains after sending a message. Message and draft are in different files, so it is committed with
/// the message and moved to the drafts immediately, or at the next start after a crash.
struct RestoredDraft: Codable {
    private static let setting = RoomSetting("leftDraft")

    /// The token of the sent draft, or `nil` if it was never stored.
    private var token: Int64?
    private var preview: String
    private var data: Data

    init(_ draft: SavedDraft, inPlaceOf sent: DraftRow?) {
        token = sent?.token
        preview = draft.preview
        data = draft.data
    }

    /// Stores the remaining draft in the history; `nil` removes it.
    static func set(_ draft: RestoredDraft?, of record: RoomRecord, in history: Database) throws {
        let value = try draft.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
        try setting.set(value, of: record, in: history)
    }

    /// Replaces the sent draft, unless it has changed since.
    func move(to room: RoomID, in pending: Database) throws {
        let drafts = DraftTable(db: pending)
        guard try drafts.row(of: room)?.token == token else { return }
        try drafts.set(SavedDraft(data: data, preview: preview), of: room)
    }

    /// Moves all drafts left over from an earlier run.
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
                // Only this type writes these rows. If one is damaged nevertheless, it is lost, but the others are
                // still moved.
                let draft = try? JSONDecoder().decode(RestoredDraft.self, from: Data(value.utf8))
                try draft?.move(to: row.identifier("id"), in: db)
            }
        }
        try history.write { db in
            try db.execute(sql: "DELETE FROM roomSetting WHERE name = ?", arguments: [setting.name])
        }
    }
}
