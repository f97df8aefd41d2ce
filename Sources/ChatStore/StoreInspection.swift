import GRDB

/// Looks at a database through a read-only connection, which leaves the file as it is whatever it finds.
struct StoreInspection {
    let folder: StoreFolder
    let lastEnding: StoreLock.Ending

    /// - Throws: ``StoreOpeningError`` unless the database is one of ours, of a version known here and, when its
    ///   last use ended uncleanly, sound.
    func run() throws(StoreOpeningError) {
        let path = folder.database
        if folder.size(of: path) == 0 {
            // SQLite takes an empty file for a new database and deletes the log beside it.
            let log = folder.size(of: folder.companions[0]) ?? 0
            guard lastEnding == .none, log == 0 else { throw .damaged(path: path, reason: "the database is empty") }
            return
        }
        // Killed while the very first page was written: only a writer can roll that back.
        if lastEnding == .none, folder.size(of: path + "-journal") ?? 0 > 0 { return }
        do {
            var configuration = Configuration()
            configuration.readonly = true
            let database = try DatabaseQueue(path: path, configuration: configuration)
            defer { try? database.close() }
            try database.read(check)
        } catch let error as StoreOpeningError {
            throw error
        } catch {
            throw StoreOpeningError(error, path: path)
        }
    }

    private func check(_ db: Database) throws {
        let found = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        let application = try Int64.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") ?? 0
        if found == 0, tables == 0 { return }
        guard application == Schema.applicationID, found > 0 else {
            throw StoreOpeningError.damaged(path: folder.database, reason: "this is another program's database")
        }
        guard found <= Schema.version else {
            throw StoreOpeningError.newerSchema(found: found, supported: Schema.version)
        }
        guard lastEnding != .clean else { return }
        let verdict = try String.fetchOne(db, sql: "PRAGMA quick_check(1)") ?? "no verdict"
        guard verdict == "ok" else { throw StoreOpeningError.damaged(path: folder.database, reason: verdict) }
    }
}

extension StoreOpeningError {
    /// What SQLite's answer to an attempt to open means.
    init(_ error: any Error, path: String) {
        guard let error = error as? DatabaseError else {
            self = .damaged(path: path, reason: String(describing: type(of: error)))
            return
        }
        switch error.resultCode {
        case .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH: self = .unwritable(path: path)
        case .SQLITE_BUSY, .SQLITE_LOCKED: self = .busy
        case .SQLITE_FULL: self = .diskFull(path: path)
        default: self = .damaged(path: path, reason: error.technicalReason)
        }
    }
}
