public import ChatCore

extension ChatStore {
    /// Returns all accounts in the order they were added.
    public func accounts() async throws -> [Account] { try await readPending { db in try AccountTable(db: db).all } }

    /// Adds or updates an account.
    public func saveAccount(_ account: Account) async throws {
        try await writePending { db in try AccountTable(db: db).save(account) }
    }

    /// Renames an account. Does nothing if there is none with that identifier.
    public func renameAccount(_ id: String, to name: String) async throws {
        try await writePending { db in try AccountTable(db: db).rename(id, to: name) }
    }

    public func removeAccount(_ id: String) async throws {
        try await writePending { db in try AccountTable(db: db).remove(id) }
    }

    /// Returns the value of a setting, or `nil` if it is not set.
    public func setting(_ name: String) async throws -> String? {
        try await read { db in try SettingTable(db: db).value(of: name) }
    }

    public func setSetting(_ value: String, for name: String) async throws {
        try await write { db in try SettingTable(db: db).set(value, for: name) }
    }

    /// Stores one of many settings that can be determined again: a power loss may drop it.
    ///
    /// - Parameters:
    ///   - prefix: The beginning of their names.
    ///   - limit: How many there may be. Once there are more, the newest half of that number remains.
    ///   - date: Returns when a value was stored, in seconds; `nil` makes it the oldest.
    public func cacheSetting(
        _ value: String, for name: String, among prefix: String, limit: Int,
        date: @escaping @Sendable (String) -> Double?
    ) async throws {
        try await writeCache { db in
            let table = SettingTable(db: db)
            try table.set(value, for: name)
            try table.trim(prefix, to: limit, date: date)
        }
    }
}
