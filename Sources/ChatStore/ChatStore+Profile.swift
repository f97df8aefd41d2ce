import GRDB

extension ChatStore {
    /// Returns the value of a setting, or `nil` if it is not set.
    public func setting(_ name: String) async throws -> String? {
        try await read { db in
            try String.fetchOne(db, sql: "SELECT value FROM setting WHERE name = ?", arguments: [name])
        }
    }

    /// Sets a setting.
    public func setSetting(_ value: String, for name: String) async throws {
        try await write { db in
            try db.execute(
                sql: """
                    INSERT INTO setting (name, value) VALUES (?, ?)
                    ON CONFLICT (name) DO UPDATE SET value = excluded.value
                    """, arguments: [name, value])
        }
    }
}
