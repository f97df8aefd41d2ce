import GRDB

/// A table with row IDs, by which orphaned rows are recognized.
struct RecoveredTable {
    private struct Column {
        let type: String
        let mayBeNull: Bool
        let isKey: Bool
    }

    let name: String
    private let columns: [Column]
    /// The minimum number of columns: rows are shorter if they were written before columns were added.
    private let minColumns: Int
    private let insertion: String

    /// Returns the database's tables with row IDs, except for internal ones.
    static func all(in db: Database) throws -> [RecoveredTable] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT name, sql FROM sqlite_master WHERE type = 'table' AND rootpage > 0
                    AND sql NOT LIKE '%WITHOUT ROWID%' AND name NOT LIKE '%Index\\_%' ESCAPE '\\'
                    AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                """
        ).map { row in try RecoveredTable(row["name"], in: db) }
    }

    private init(_ name: String, in db: Database) throws {
        self.name = name
        columns = try Row.fetchAll(db, sql: "PRAGMA table_info(\(name))").map { row in
            Column(type: row["type"], mayBeNull: row["notnull"] == 0, isKey: row["pk"] == 1)
        }
        minColumns = ["room": 9, "outbox": 7][name] ?? columns.count
        let placeholders = columns.map { _ in "?" }.joined(separator: ", ")
        insertion = "INSERT OR IGNORE INTO \(name) VALUES (\(placeholders))"
    }

    /// Returns the row's values for this table, or `nil` if it cannot be one of its rows.
    func values(_ row: LooseRow, _ values: [DatabaseValue]) -> [DatabaseValue]? {
        guard (minColumns...columns.count).contains(values.count) else { return nil }
        var values = values + Array(repeating: .null, count: columns.count - values.count)
        for (index, column) in columns.enumerated() {
            if column.isKey {
                // The record contains NULL in place of the row ID.
                guard values[index].isNull else { return nil }
                values[index] = row.key.databaseValue
                continue
            }
            switch (values[index].storage, column.type) {
            case (.null, _): guard column.mayBeNull else { return nil }
            case (.int64, "INTEGER"), (.string, "TEXT"), (.blob, "BLOB"): break
            default: return nil
            }
        }
        return values
    }

    /// Inserts a row unless its key exists.
    /// - Returns: Whether it was inserted.
    func insert(_ values: [DatabaseValue], into db: Database) throws -> Bool {
        try db.cachedStatement(sql: insertion).execute(arguments: StatementArguments(values))
        return db.changesCount > 0
    }
}
