import GRDB

/// Checks a database through a read-only connection, so that a damaged file is never modified.
struct StoreInspection {
    /// The maximum size of a database that is checked before use, which takes less than 0.1 s. Larger ones are checked
    /// in the background.
    static let maxSizeCheckedFirst: Int64 = 16 << 20

    /// The schema version increases by one per migration: a version further ahead than this is damage.
    static let maxVersionsAhead = 1_000

    let file: DatabaseFile
    let lastEnding: StoreLock.Ending

    /// Checks the database before it is opened.
    /// - Returns: Whether a full check is still needed, because the database is large and was not closed cleanly.
    /// - Throws: ``StoreOpeningError`` unless the database is one of this application, of a supported version and, if
    ///   it was not closed cleanly, passes the check.
    func run() throws(StoreOpeningError) -> Bool {
        if file.size <= 1 {
            // SQLite treats a file of zero or one bytes as a new database and deletes its log.
            guard lastEnding == .none, file.logSize == 0 else { throw damaged("the database is empty") }
            return false
        }
        // The process was killed while it wrote the first page: only a writer can roll that back.
        if lastEnding == .none, FileSystem.size(of: file.path + "-journal") ?? 0 > 0 { return false }
        if let reason = WriteAheadLog.damage(of: file) { throw damaged(reason) }
        // With a log, the pages are spread over two files.
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

    /// Runs SQLite's check of all pages. Takes about 1 s per 200 MB.
    /// - Returns: The first problem, or `nil` if there is none.
    /// - Throws: an error that says nothing of the file's content, such as a lack of memory or of file descriptors.
    static func problem(in file: DatabaseFile) throws -> String? {
        do {
            let verdict = try read(file) { db in
                try String.fetchOne(db, sql: "PRAGMA integrity_check(1)") ?? "the integrity check has no result"
            }
            return verdict == "ok" ? nil : verdict
        } catch let error as DatabaseError where error.isCorruption {
            return error.technicalReason
        }
    }

    private static func read<T: Sendable>(_ file: DatabaseFile, _ body: (Database) throws -> T) throws -> T {
        var configuration = Configuration()
        configuration.readonly = true
        let database = try DatabaseQueue(path: file.path, configuration: configuration)
        // A read-only connection loses nothing if closing it fails.
        defer { try? database.close() }
        return try database.read(body)
    }

    private func check(_ db: Database) throws -> Bool {
        let found = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        let application = try Int64.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") ?? 0
        if found == 0, tables == 0 { return false }
        guard application == file.schema.applicationID, found > 0 else {
            throw damaged("the file is not a database of this program")
        }
        guard found <= file.schema.version + Self.maxVersionsAhead else {
            throw damaged("the header has an invalid schema version: \(found)")
        }
        guard found <= file.schema.version else {
            throw StoreOpeningError.newerSchema(found: found, supported: file.schema.version)
        }
        // Unsent data is irreplaceable and small: check it at each start.
        let isSmall = file.size + file.logSize <= Self.maxSizeCheckedFirst
        if lastEnding == .clean, !(file.schema.applicationID == Schema.pending.applicationID && isSmall) {
            return false
        }
        if lastEnding != .suspect, !isSmall { return true }
        let verdict = try String.fetchOne(db, sql: "PRAGMA integrity_check(1)") ?? "the integrity check has no result"
        guard verdict == "ok" else { throw damaged(verdict) }
        return false
    }

    private func damaged(_ reason: String) -> StoreOpeningError {
        .damaged(path: file.path, reason: reason)
    }
}

extension StoreOpeningError {
    /// Maps SQLite's error on opening.
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
