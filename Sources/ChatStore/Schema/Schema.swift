import GRDB

/// The schema of a database file, as a list of migrations. Released migrations must never change: only append.
///
/// Times are in milliseconds since 1970. `PRAGMA user_version` is the number of applied migrations. Each table with row
/// IDs must have a column count unique in its file, by which ``Recovery`` recognizes rows on orphaned pages.
struct Schema: Sendable {
    /// SQLite's `application_id`, which identifies this application's databases.
    let applicationID: Int64
    let steps: [String]

    var version: Int { steps.count }

    /// Migrates a database to the latest version, each step in its own transaction.
    ///
    /// - Parameter prepare: Called in a step's transaction before the step, with its number starting at 1.
    func migrate(
        _ writer: some DatabaseWriter, before prepare: @escaping @Sendable (Int, Database) throws -> Void = { _, _ in }
    ) throws {
        let done = try writer.read { db in try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0 }
        for (index, step) in steps.enumerated().dropFirst(done) {
            try writer.write { db in
                try prepare(index + 1, db)
                try db.execute(sql: step)
                try db.execute(sql: "PRAGMA application_id = \(applicationID)")
                try db.execute(sql: "PRAGMA user_version = \(index + 1)")
            }
        }
    }
}
