import ChatCore
import Foundation
import GRDB

/// Copies the intact rows of a damaged database into a new one.
struct Recovery {
    let damaged: DatabaseFile
    let rebuilt: DatabaseQueue

    /// Runs the recovery.
    /// - Throws: Only errors of the new database, such as a full disk.
    func run() throws {
        try rebuilt.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF")
            try db.inTransaction {
                try recoverLooseRows(into: db)
                try recoverRowsWithoutRowID(into: db)
                if damaged.schema.applicationID == Schema.history.applicationID { try repairHistory(db) }
                if damaged.schema.applicationID == Schema.pending.applicationID { try repairPending(db) }
                return .commit
            }
            try db.execute(sql: "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL")
            _ = try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
    }

    private func recoverLooseRows(into db: Database) throws {
        let tables = try RecoveredTable.all(in: db)
        try DatabasePages(damaged).forEachRow { row in
            guard let values = row.values() else { return }
            for table in tables {
                guard let fitting = table.values(row, values) else { continue }
                _ = try table.insert(fitting, into: db)
                return
            }
        }
    }

    /// Tables without row IDs are stored like indexes, so their rows cannot be recognized on orphaned pages. SQLite
    /// reads as many of them as it can.
    private func recoverRowsWithoutRowID(into db: Database) throws {
        let tables = try String.fetchAll(
            db,
            sql:
                "SELECT name FROM sqlite_master WHERE sql LIKE '%WITHOUT ROWID%' AND name NOT LIKE '%Index\\_%' ESCAPE '\\'"
        )
        guard !tables.isEmpty else { return }
        var configuration = Configuration()
        configuration.readonly = true
        // If SQLite cannot open the database, recover only the rows that have a row ID.
        guard let source = try? DatabaseQueue(path: damaged.path, configuration: configuration) else { return }
        // It was only read from, so nothing is lost if closing fails.
        defer { try? source.close() }
        for table in tables {
            // The damaged database may be of an earlier version with fewer columns: match them by name.
            let names = columns(of: table, in: source)
            let commonColumns = try db.columns(in: table).map(\.name).filter(names.contains)
            guard !commonColumns.isEmpty else { continue }
            let list = commonColumns.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
            let placeholders = commonColumns.map { _ in "?" }.joined(separator: ", ")
            for row in rows("SELECT \(list) FROM \(table)", in: source) {
                do {
                    try db.execute(
                        sql: "INSERT OR IGNORE INTO \(table) (\(list)) VALUES (\(placeholders))",
                        arguments: StatementArguments(row))
                } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
                    // A row that violates constraints is damaged.
                    continue
                }
            }
        }
    }

    /// Returns the names of the columns; none if the table cannot be read, because the rest is recovered without it.
    private func columns(of table: String, in source: DatabaseQueue) -> Set<String> {
        Set((try? source.read { db in try db.columns(in: table).map(\.name) }) ?? [])
    }

    /// Returns the rows up to the first that cannot be read: those after it are lost, as SQLite cannot skip it.
    private func rows(_ query: String, in source: DatabaseQueue) -> [[DatabaseValue]] {
        var rows: [[DatabaseValue]] = []
        try? source.read { db in
            let cursor = try Row.fetchCursor(db, sql: query)
            while let row = try cursor.next() { rows.append(Array(row.databaseValues)) }
        }
        return rows
    }

    /// Makes all requests count as attempted: what was recovered may be a row from before the attempt.
    private func repairPending(_ db: Database) throws { try db.execute(sql: "UPDATE outbox SET isUntried = NULL") }

    /// Restores referential integrity: recreates missing rooms, users and members, deletes rows of missing messages and
    /// rooms, and updates the summaries of rooms. Sealed messages whose events are missing will be requested again.
    private func repairHistory(_ db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO room (key, id, kind, name, lastActivity)
                SELECT room, 'recovered-' || room, 'group', 'Recovered ' || room, max(sentAt) FROM message
                WHERE room NOT IN (SELECT key FROM room) GROUP BY room;
                INSERT INTO user (key, id)
                SELECT DISTINCT sender, 'unknown-' || sender FROM message WHERE sender NOT IN (SELECT key FROM user);
                DELETE FROM member WHERE room NOT IN (SELECT key FROM room);
                INSERT INTO member (room, id, kind, name, hasLeft)
                SELECT DISTINCT m.room, u.id, coalesce(s.kind, 'person'), coalesce(s.name, u.id), s.name IS NULL
                FROM message m JOIN user u ON u.key = m.sender
                    LEFT JOIN (SELECT id, min(kind) AS kind, min(name) AS name FROM member GROUP BY id) s ON s.id = u.id
                WHERE NOT EXISTS (SELECT 1 FROM member x WHERE x.room = m.room AND x.id = u.id);
                \(Schema.readSealedEdits)
                \(Schema.requestLostSealed)
                """)
        // A later room may get the key of a lost one, and must not get its gaps or receipts.
        for table in try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'") {
            for reference in try db.foreignKeys(on: table) {
                for (origin, destination) in reference.mapping {
                    try db.execute(
                        sql: """
                            DELETE FROM \(table)
                            WHERE \(origin) NOT IN (SELECT \(destination) FROM \(reference.destinationTable))
                            """)
                }
            }
        }
        for record in try RoomRecord.all(in: db) {
            try record.refreshLastMessage(in: db)
            if record.fullyReadPosition != nil {
                try record.refreshUnread(after: record.fullyReadPosition ?? 0, in: db)
            }
        }
    }
}
