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

    func remove(_ name: String) throws {
        try db.execute(sql: "DELETE FROM setting WHERE name = ?", arguments: [name])
    }

    func set(_ values: [String: String]) throws {
        for (name, value) in values { try set(value, for: name) }
    }

    /// Removes the oldest of the settings whose names begin with a prefix if there are more of them than `limit`. Then
    /// half as many remain, so that the next ones are not read again at once.
    /// - Parameter date: Returns when a value was stored; `nil` makes it the oldest.
    func trim(_ prefix: String, to limit: Int, date: (String) -> Double?) throws {
        // No name has the last code point: the names in between are those that begin with the prefix.
        let arguments: StatementArguments = [prefix, prefix + "\u{10FFFF}"]
        let condition = "name >= ? AND name < ?"
        let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM setting WHERE \(condition)", arguments: arguments)
        guard let count, count > limit else { return }
        let rows = try Row.fetchAll(db, sql: "SELECT name, value FROM setting WHERE \(condition)", arguments: arguments)
        var settings: [(name: String, date: Double)] = []
        for row in rows {
            let (name, value): (String, String) = (try row.value("name"), try row.value("value"))
            settings.append((name: name, date: date(value) ?? -Double.infinity))
        }
        for setting in settings.sorted(by: { $0.date > $1.date }).dropFirst(limit / 2) {
            try remove(setting.name)
        }
    }

    /// Records an event that happens once in the lifetime of the store.
    /// - Returns: Whether this is the first time.
    func setOnce(_ name: String) throws -> Bool {
        try db.execute(
            sql: "INSERT INTO setting (name, value) VALUES (?, 'done') ON CONFLICT DO NOTHING", arguments: [name])
        return db.changesCount > 0
    }
}
