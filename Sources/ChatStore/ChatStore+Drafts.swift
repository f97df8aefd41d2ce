public import ChatCore
import Foundation
import GRDB

extension ChatStore {
    /// What is unsent in the room.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func draft(in room: RoomID) async throws -> SavedDraft? {
        try await read { db in
            let record = try RoomRecord.get(room, in: db)
            let row = try Row.fetchOne(
                db, sql: "SELECT preview, data FROM draft WHERE room = ?", arguments: [record.key])
            return try row.map { SavedDraft(data: try $0.value("data"), preview: try $0.value("preview")) }
        }
    }

    /// Keeps what is unsent in the room; nil removes it. The preview is cut to 200 characters.
    /// - Returns: whether that differs from what was kept.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func saveDraft(_ draft: SavedDraft?, in room: RoomID) async throws -> Bool {
        try await write { db in
            let record = try RoomRecord.get(room, in: db)
            guard let draft else { return try Self.removeDraft(of: record, in: db) }
            try db.cachedStatement(
                sql: """
                    INSERT INTO draft (room, preview, data) VALUES (?, ?, ?)
                    ON CONFLICT (room) DO UPDATE SET preview = excluded.preview, data = excluded.data
                    WHERE preview <> excluded.preview OR data <> excluded.data
                    """
            ).execute(arguments: [record.key, draft.preview.preview, draft.data])
            return db.changesCount > 0
        }
    }

    @discardableResult
    static func removeDraft(of record: RoomRecord, in db: Database) throws -> Bool {
        try db.cachedStatement(sql: "DELETE FROM draft WHERE room = ?").execute(arguments: [record.key])
        return db.changesCount > 0
    }
}
