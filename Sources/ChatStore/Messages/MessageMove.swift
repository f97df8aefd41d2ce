import GRDB

/// Gives messages other keys, within a transaction with deferred foreign keys: the rows that refer to a message are
/// updated separately from it.
struct MessageMove {
    private let db: Database
    /// The tables that refer to messages, with the referring column.
    private let references: [(table: String, column: String)]

    init(db: Database) throws {
        self.db = db
        try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
        references = try Row.fetchAll(
            db,
            sql: """
                SELECT t.name AS name, k."from" AS column FROM sqlite_schema t, pragma_foreign_key_list(t.name) k
                WHERE t.type = 'table' AND k."table" = 'message'
                """
        ).map { (try $0.value("name"), try $0.value("column")) }
    }

    /// Moves a message to a free key.
    func move(_ old: Int64, to new: Int64) throws {
        try db.cachedStatement(sql: "UPDATE message SET key = ? WHERE key = ?").execute(arguments: [new, old])
        try moveReferences(of: old, to: new)
    }

    /// Moves the rows that refer to a message to another one.
    func moveReferences(of old: Int64, to new: Int64) throws {
        for reference in references {
            try db.cachedStatement(
                sql: "UPDATE \(reference.table) SET \(reference.column) = ? WHERE \(reference.column) = ?"
            )
            .execute(arguments: [new, old])
        }
    }
}
