import GRDB

/// Looks at a database through a read-only connection, which leaves the file as it is whatever it finds.
struct StoreInspection {
    /// A database up to this size is checked before it is used. A page takes some microseconds: what a user waits for
    /// stays below a tenth of a second. A larger one is checked while it is being used.
    static let maxSizeCheckedFirst: Int64 = 16 << 20

    /// A version adds one for each change of the schema: no later program is further ahead than this.
    static let maxVersionsAhead = 1_000

    let file: DatabaseFile
    let lastEnding: StoreLock.Ending

    /// - Returns: whether the database is still to be checked: its last use ended uncleanly, and it is large.
    /// - Throws: ``StoreOpeningError`` unless the database is one of ours, of a version known here and, when its
    ///   last use ended uncleanly, sound as far as it was checked.
    func run() throws(StoreOpeningError) -> Bool {
        if file.size <= 1 {
            // SQLite takes a file of no byte, or one, for a new database and deletes the log beside it.
            guard lastEnding == .none, file.logSize == 0 else { throw damaged("the database is empty") }
            return false
        }
        // Killed while the very first page was written: only a writer can roll that back.
        if lastEnding == .none, FileSystem.size(of: file.path + "-journal") ?? 0 > 0 { return false }
        if let reason = WriteAheadLog.damage(of: file) { throw damaged(reason) }
        // With a log the pages are in two places.
        if file.logSize == 0, let header = DatabaseHeader(of: file.path),
            let reason = header.problem(pages: Int(file.size) / WriteAheadLog.commonPageSize)
        {
            throw damaged(reason)
        }
        do {
            return try Self.read(file, check)
        } catch let error as StoreOpeningError {
            throw error
        } catch {
            throw StoreOpeningError(error, path: file.path)
        }
    }

    /// SQLite's check of each page. Takes about a second for each 200 MB.
    /// - Returns: what is wrong; nil if all is well.
    static func problem(in file: DatabaseFile) -> String? {
        do {
            let verdict = try read(file) { db in
                try String.fetchOne(db, sql: "PRAGMA integrity_check(1)") ?? "no verdict"
            }
            return verdict == "ok" ? nil : verdict
        } catch {
            return (error as? DatabaseError)?.technicalReason ?? String(describing: type(of: error))
        }
    }

    private static func read<T: Sendable>(_ file: DatabaseFile, _ body: (Database) throws -> T) throws -> T {
        var configuration = Configuration()
        configuration.readonly = true
        let database = try DatabaseQueue(path: file.path, configuration: configuration)
        defer { try? database.close() }
        return try database.read(body)
    }

    private func check(_ db: Database) throws -> Bool {
        let found = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        let application = try Int64.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") ?? 0
        if found == 0, tables == 0 { return false }
        guard application == file.schema.applicationID, found > 0 else {
            throw damaged("this is another program's database")
        }
        guard found <= file.schema.version + Self.maxVersionsAhead else {
            throw damaged("the header is damaged: version")
        }
        guard found <= file.schema.version else {
            throw StoreOpeningError.newerSchema(found: found, supported: file.schema.version)
        }
        // What only this computer knows is small, and is looked at each time.
        let isSmall = file.size + file.logSize <= Self.maxSizeCheckedFirst
        if lastEnding == .clean, !(file.schema.applicationID == Schema.pending.applicationID && isSmall) {
            return false
        }
        if lastEnding != .suspect, !isSmall { return true }
        let verdict = try String.fetchOne(db, sql: "PRAGMA integrity_check(1)") ?? "no verdict"
        guard verdict == "ok" else { throw damaged(verdict) }
        return false
    }

    private func damaged(_ reason: String) -> StoreOpeningError {
        .damaged(path: file.path, reason: reason)
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
