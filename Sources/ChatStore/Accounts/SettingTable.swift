import GRDB

/// The settings of the store as a whole, by name; see ``RoomSetting`` for those of a room.
struct SettingTable {
    let db: Database

    /// Returns the value of a setting, or `nil` if it is not set.
    func value(of name: String) throws -> String? {
        try String.fetchOne(db, sql: "SELECT value FROM setting WHERE name = ?", arguments: [name])
    }

    func set(_ value: String, for name: String) throws {
        try db.execute(
            sql: """
                INSERT INTO setting (name, value) VALUES (?, ?)
                ON CONFLICT (name) DO UPDATE SET value = excluded.value
                """, arguments: [name, value])
    }

    func set(_ values: [String: String]) throws {
        for (name, value) in values { try set(value, for: name) }
    }

    /// Records an event that happens once in the lifetime of the store.
    /// - Returns: Whether this is the first time.
    func setOnce(_ name: String) throws -> Bool {
        try db.execute(
            sql: "INSERT INTO setting (name, value) VALUES (?, 'done') ON CONFLICT DO NOTHING", arguments: [name])
        return db.changesCount > 0
    }
}
