public import ChatCore
import GRDB

/// The row of a draft.
struct DraftRow {
    /// Changes with each modification.
    let token: Int64
    let draft: SavedDraft
}

/// The drafts, at most one for each room.
struct DraftTable {
    let db: Database

    func row(of room: RoomID) throws -> DraftRow? {
        let statement = try db.cachedStatement(sql: "SELECT token, preview, data FROM draft WHERE room = ?")
        return try Row.fetchOne(statement, arguments: [room.rawValue]).map { row in
            DraftRow(
                token: try row.value("token"),
                draft: SavedDraft(data: try row.value("data"), preview: try row.value("preview")))
        }
    }

    /// Returns the previews and tokens of drafts.
    func previews(of rooms: RoomScope) throws -> [RoomID: (token: Int64, preview: String)] {
        let columns = "SELECT room, token, preview FROM draft"
        let rows =
            switch rooms {
            case .all: try Row.fetchAll(db.cachedStatement(sql: columns))
            case .only(let ids):
                try ids.compactMap {
                    try Row.fetchOne(db.cachedStatement(sql: columns + " WHERE room = ?"), arguments: [$0.rawValue])
                }
            }
        let pairs = try rows.map { row in
            (
                try row.identifier("room") as RoomID,
                (token: try row.value("token") as Int64, preview: try row.value("preview") as String)
            )
        }
        return Dictionary(pairs) { first, _ in first }
    }

    var tokens: [Int64] { get throws { try Int64.fetchAll(db, sql: "SELECT token FROM draft") } }

    /// Stores the draft of a room, with its preview truncated.
    func set(_ draft: SavedDraft, of room: RoomID) throws {
        let draft = draft.truncated
        try db.cachedStatement(
            sql: """
                INSERT INTO draft (room, token, preview, data) VALUES (?, ?, ?, ?)
                ON CONFLICT (room) DO UPDATE
                SET token = excluded.token, preview = excluded.preview, data = excluded.data
                """
        ).execute(arguments: [room.rawValue, Int64.random(in: 1...Int64.max), draft.preview, draft.data])
    }

    /// Removes a draft, unless it was changed since it was read.
    func remove(_ row: DraftRow, of room: RoomID) throws {
        try db.cachedStatement(sql: "DELETE FROM draft WHERE room = ? AND token = ?")
            .execute(arguments: [room.rawValue, row.token])
    }

    func remove(of room: RoomID) throws {
        try db.execute(sql: "DELETE FROM draft WHERE room = ?", arguments: [room.rawValue])
    }
}

extension SavedDraft {
    /// The draft with its preview truncated for storage.
    var truncated: SavedDraft { SavedDraft(data: data, preview: preview.preview) }

    /// The draft's preview in the room list, or `nil` without text.
    public var listedPreview: String? {
        let preview = preview.preview
        return preview.isEmpty ? nil : preview
    }
}
