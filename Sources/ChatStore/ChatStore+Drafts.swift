public import ChatCore
import Foundation
import GRDB

extension ChatStore {
    /// Returns the room's draft.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func draft(in room: RoomID) async throws -> SavedDraft? {
        let sent = try await read { db in try RoomRecord.get(room, in: db).sentDraft }
        return try await readPending { db in
            try DraftRow.find(room, in: db).flatMap { $0.token == sent ? nil : $0.draft }
        }
    }

    /// Stores the room's draft; `nil` removes it. The preview is truncated to 200 characters.
    /// - Returns: Whether the draft changed.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func saveDraft(_ draft: SavedDraft?, in room: RoomID) async throws -> Bool {
        let sent = try await read { db in try RoomRecord.get(room, in: db).sentDraft }
        return try await writePending { db in
            let stored = try DraftRow.find(room, in: db)
            let storedDraft = stored?.token == sent ? nil : stored?.draft
            guard let draft = draft?.cut else {
                if let stored { try stored.remove(in: db) }
                return storedDraft != nil
            }
            guard draft != storedDraft else { return false }
            try DraftRow.set(draft, of: room, in: db)
            return true
        }
    }

    /// Returns the number of unsent items that would be lost with this store.
    public func pendingCount() async throws -> PendingCount {
        let requests = try await outboxRequests()
        let changes = requests.count { $0.action.target != nil }
        let sent = try await read { db in
            try Int64.fetchSet(db, sql: "SELECT sentDraft FROM room WHERE sentDraft IS NOT NULL")
        }
        let drafts = try await readPending { db in try Int64.fetchAll(db, sql: "SELECT token FROM draft") }
        return PendingCount(
            messages: requests.count - changes, changes: changes, drafts: drafts.count { !sent.contains($0) })
    }

    /// Moves the drafts out of a history in the format of the first version.
    static func carryDrafts(from history: Database, to pending: DatabasePool) throws {
        let rows = try Row.fetchAll(
            history, sql: "SELECT r.id, d.preview, d.data FROM draft d JOIN room r ON r.key = d.room")
        let drafts = try rows.map { row in
            (
                room: RoomID(try row.value("id") as String),
                draft: SavedDraft(data: try row.value("data"), preview: try row.value("preview"))
            )
        }
        try pending.write { db in
            for (room, draft) in drafts { try DraftRow.set(draft, of: room, in: db) }
        }
    }

    /// Recreates rooms that the history has lost but that have unsent content, to make it accessible.
    static func recoverLostRooms(of pending: DatabasePool, in history: DatabasePool) throws {
        let rooms = try pending.read { db in
            try String.fetchAll(db, sql: "SELECT room FROM draft UNION SELECT room FROM outbox")
        }
        let lost = try history.read { db in try rooms.filter { try RoomRecord.find(RoomID($0), in: db) == nil } }
        guard !lost.isEmpty else { return }
        try history.write { db in
            for room in lost {
                try db.execute(
                    sql: """
                        INSERT INTO room (id, kind, name, lastActivity) VALUES (?1, 'group', 'Recovered', ?2);
                        INSERT INTO member (room, id, kind, name)
                        SELECT last_insert_rowid(), id, kind, name FROM member WHERE kind = 'own' LIMIT 1;
                        """, arguments: [room, Date().milliseconds])
            }
        }
    }
}

/// The row of a draft.
struct DraftRow {
    let room: RoomID
    /// Changes with each modification.
    let token: Int64
    let draft: SavedDraft

    static func find(_ room: RoomID, in db: Database) throws -> DraftRow? {
        let statement = try db.cachedStatement(sql: "SELECT token, preview, data FROM draft WHERE room = ?")
        return try Row.fetchOne(statement, arguments: [room.rawValue]).map { row in
            DraftRow(
                room: room, token: try row.value("token"),
                draft: SavedDraft(data: try row.value("data"), preview: try row.value("preview")))
        }
    }

    /// Returns the previews and tokens of all drafts.
    static func previews(in db: Database) throws -> [RoomID: (token: Int64, preview: String)] {
        let rows = try Row.fetchAll(db.cachedStatement(sql: "SELECT room, token, preview FROM draft"))
        let pairs = try rows.map { row in
            (
                try row.identifier("room") as RoomID,
                (token: try row.value("token") as Int64, preview: try row.value("preview") as String)
            )
        }
        return Dictionary(pairs) { first, _ in first }
    }

    static func set(_ draft: SavedDraft, of room: RoomID, in db: Database) throws {
        let draft = draft.cut
        try db.cachedStatement(
            sql: """
                INSERT INTO draft (room, token, preview, data) VALUES (?, ?, ?, ?)
                ON CONFLICT (room) DO UPDATE
                SET token = excluded.token, preview = excluded.preview, data = excluded.data
                """
        ).execute(arguments: [room.rawValue, Int64.random(in: 1...Int64.max), draft.preview, draft.data])
    }

    func remove(in db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM draft WHERE room = ? AND token = ?")
            .execute(arguments: [room.rawValue, token])
    }
}

extension SavedDraft {
    /// The draft with its preview truncated for storage.
    fileprivate var cut: SavedDraft { SavedDraft(data: data, preview: preview.preview) }
}
