import ChatCore
public import Foundation
import GRDB
import Synchronization

/// What was said, what was read and what is unsent, of one account, in one SQLite database.
///
/// Whatever a call changes is on the disk when it returns (`synchronous=FULL`) and is changed whole or not at all.
/// Calls run on the store's own queues, never on the caller's thread, and throw ``ChatError`` alone, or
/// `CancellationError` when their task was cancelled, in which case nothing was changed.
/// A call that changes something is carried out after those that were made, and returned, before it.
public final class ChatStore: Sendable {
    /// Where the store lies.
    public let folder: URL
    let pool: DatabasePool
    private let lock: StoreLock
    /// Whether something met on the way asks for a check at the next start.
    private let isSuspect = Mutex(false)

    /// Opens the store in a folder that is its own, creating it (mode 0700, files 0600) where there is none.
    ///
    /// Blocks for a few milliseconds; after an unclean end for as long as a look at each page of the database takes.
    public init(folder url: URL) throws(StoreOpeningError) {
        let folder = StoreFolder(url: url)
        try folder.create()
        lock = try StoreLock(path: folder.lock)
        let isNew = try folder.createDatabaseFile()
        if !isNew { try StoreInspection(folder: folder, lastEnding: lock.lastEnding).run() }
        try lock.noteOpen(isNew: isNew || lock.lastEnding == .none, path: folder.lock)
        do {
            pool = try DatabasePool(path: folder.database, configuration: Self.configuration)
            // GRDB sets NORMAL when it turns on the write-ahead log.
            try pool.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA synchronous = FULL") }
            try Schema.migrate(pool)
        } catch {
            throw StoreOpeningError(error, path: folder.database)
        }
        try lock.noteOpen(isNew: false, path: folder.lock)
        self.folder = url
    }

    /// ``init(folder:)`` away from the caller's thread.
    @concurrent public static func open(in folder: URL) async throws -> ChatStore {
        try ChatStore(folder: folder)
    }

    /// Renames the folder of a store that cannot be opened, so that a fresh one can be made. Nothing is deleted and
    /// nothing overwritten; database and log move in one step.
    ///
    /// - Returns: the folder's new place, beside the old one: `NAME-damaged-YYYYMMDD-HHMMSS`, in UTC.
    /// - Throws: ``StoreOpeningError/busy`` while a process has it open, ``StoreOpeningError/unwritable(path:)`` if
    ///   the folder around it does not allow it.
    public static func setAside(at folder: URL, now: Date = Date()) throws(StoreOpeningError) -> URL {
        let folder = StoreFolder(url: folder)
        var lock: StoreLock?
        do {
            lock = try StoreLock(path: folder.lock)
        } catch .busy {
            throw .busy
        } catch {
            // A lock file that is damaged too is no reason to stay stuck.
            lock = nil
        }
        defer { lock?.release() }
        return try folder.setAside(at: now)
    }

    /// Ends the use of the store: what is under way is finished, later calls throw.
    @concurrent public func close() async {
        do {
            try pool.close()
            if !isSuspect.withLock({ $0 }) { lock.noteClean() }
        } catch {
            // Left as it is, the lock's note makes the next start check the database.
        }
        lock.release()
    }

    /// SQLite's full check of pages, indexes and references. Takes seconds with a long history.
    /// - Returns: what is wrong, a line each; empty when all is well.
    public func integrityProblems() async throws -> [String] {
        try await read { db in
            let pages = try String.fetchAll(db, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
            let references = try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").map { "dangling reference: \($0)" }
            return pages + references
        }
    }

    func read<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        do { return try await pool.read(body) } catch { throw noted(error) }
    }

    func write<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        do { return try await pool.write(body) } catch { throw noted(error) }
    }

    /// The error as callers know it.
    private func noted(_ error: any Error) -> any Error {
        if error is CancellationError || error is ChatError { return error }
        if error.isDamage { isSuspect.withLock { $0 = true } }
        return ChatError(storage: error)
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "ChatStore"
        configuration.maximumReaderCount = 3
        // Only someone's SQLite shell can be in the way: the lock keeps other stores out.
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { db in
            // What was deleted is to be gone from the file, too.
            try db.execute(sql: "PRAGMA secure_delete = ON")
        }
        return configuration
    }
}
