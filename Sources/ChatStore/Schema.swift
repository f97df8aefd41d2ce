import GRDB

/// The tables of one database file, as a list of steps that is only ever added to: a released step never changes.
///
/// Times are milliseconds since 1970. `PRAGMA user_version` counts the steps done. Each table with a rowid has a
/// number of columns of its own in its file: ``Recovery`` tells rows on loose pages apart by it.
struct Schema: Sendable {
    /// Tells a database of ours from any other.
    let applicationID: Int64
    let steps: [String]

    var version: Int { steps.count }

    /// Brings a database to the newest version, each step in a transaction of its own.
    ///
    /// - Parameter prepare: called within a step's transaction, before it, with the step's number from 1.
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
