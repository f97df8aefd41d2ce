public import ChatCore
import GRDB

/// A named setting of a room.
struct RoomSetting {
    let name: String

    init(_ name: String) {
        self.name = name
    }

    func set(_ value: String?, of record: RoomRecord, in db: Database) throws {
        guard let value else {
            try db.execute(sql: "DELETE FROM roomSetting WHERE room = ? AND name = ?", arguments: [record.key, name])
            return
        }
        try db.execute(
            sql: """
                INSERT INTO roomSetting (room, name, value) VALUES (?, ?, ?)
                ON CONFLICT (room, name) DO UPDATE SET value = excluded.value
                """, arguments: [record.key, name, value])
    }
}

extension ChatStore {
    /// Returns the value of a room setting, or `nil` if it is not set.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func setting(_ name: String, of room: RoomID) async throws -> String? {
        try await read { db in
            let record = try RoomRecord.get(room, in: db)
            return try String.fetchOne(
                db, sql: "SELECT value FROM roomSetting WHERE room = ? AND name = ?", arguments: [record.key, name])
        }
    }

    /// Sets a room setting; `nil` removes it.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func set(_ value: String?, for name: String, of room: RoomID) async throws {
        try await write { db in
            try RoomSetting(name).set(value, of: RoomRecord.get(room, in: db), in: db)
        }
    }
}

extension ChatStore {
    private static let writingLanguages = "writingLanguages"

    /// See `WritingLanguageService`.
    public func writingLanguages(in room: RoomID) async throws -> [String]? {
        try await setting(Self.writingLanguages, of: room)?.split(separator: " ").map(String.init)
    }

    public func saveWritingLanguages(_ languages: [String]?, in room: RoomID) async throws {
        try await set(languages?.joined(separator: " "), for: Self.writingLanguages, of: room)
    }
}
