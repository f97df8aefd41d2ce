import ChatCore
import Dispatch
public import Foundation
import GRDB
import Synchronization

/// What was said, what was read and what is unsent, of one account, in two SQLite databases: the history, and what is
/// unsent (see ``Schema/unsent`` for why).
///
/// Whatever a call changes is on the disk when it returns (`synchronous=FULL`), unless its documentation says
/// otherwise, and is changed whole or not at all.
/// Calls run on the store's own queues, never on the caller's thread, and throw ``ChatError`` alone, or
/// `CancellationError` when their task was cancelled, in which case nothing was changed.
/// A call that changes something is carried out after those that were made, and returned, before it.
public final class ChatStore: Sendable {
    /// Where the store lies.
    public let folder: URL
    let history: DatabasePool
    let pending: DatabasePool
    private let files: StoreFolder
    private let lock: StoreLock
    /// What keeps the end of this use from counting as clean.
    private let state: Mutex<State>

    private struct State {
        /// Something met on the way asks for a check at the next start.
        var isSuspect = false
        /// The history is still to be checked.
        var isUnchecked: Bool
        var isClosed = false
    }

    /// Opens the store in a folder that is its own, creating it (mode 0700, files 0600) where there is none.
    ///
    /// Blocks for a few milliseconds; after an unclean end for up to a tenth of a second. A history too large to be
    /// checked in that time is to be checked by ``checkHistory()``.
    public init(folder url: URL) throws(StoreOpeningError) {
        let folder = StoreFolder(url: url)
        try folder.create()
        lock = try StoreLock(path: folder.lock)
        let lastEnding = lock.lastEnding
        let isNew = folder.isEmpty && lastEnding != .unclean
        var isUnchecked = false
        for file in folder.files {
            if file.isUnbegun, folder.mayBeMissing(file) { continue }
            if try file.create() {
                guard isNew || lastEnding == .none else {
                    try? FileManager.default.removeItem(atPath: file.path)
                    throw .damaged(path: file.path, reason: "the database is missing")
                }
            } else {
                // Without it the newest changes are missing, and nothing else would tell.
                guard !lock.hasLeftoverLogs || FileSystem.exists(file.log) else {
                    throw .damaged(path: file.path, reason: "its log is missing")
                }
                if try StoreInspection(file: file, lastEnding: lastEnding).run() { isUnchecked = true }
            }
        }
        FileSystem.syncFolder(url.path)
        state = Mutex(State(isUnchecked: isUnchecked))
        try lock.noteOpening(isNew: isNew || lastEnding == .none, path: folder.lock)
        var path = folder.pending.path
        do {
            pending = try DatabasePool(path: path, configuration: Self.configuration("unsent", maxReaders: 1))
            // GRDB sets NORMAL when it turns on the write-ahead log.
            try pending.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 100")
            }
            try folder.pending.schema.migrate(pending)
            path = folder.history.path
            history = try DatabasePool(path: path, configuration: Self.configuration("history", maxReaders: 3))
            try history.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA synchronous = FULL") }
            let pending = pending
            try folder.history.schema.migrate(history) { step, db in
                if step == Schema.stepThatDropsDrafts { try Self.carryDrafts(from: db, to: pending) }
                if step == Schema.stepThatRefetchesHistory { try MisplacedChunks(db: db).removeAll() }
            }
        } catch {
            throw StoreOpeningError(error, path: path)
        }
        do {
            try RestoredDraft.moveAll(from: history, to: pending)
            try Self.recoverLostRooms(of: pending, in: history)
        } catch {
            // Met again by whoever reads there, and by the check at the next start.
            state.withLock { $0.isSuspect = true }
        }
        try lock.noteOpen(path: folder.lock)
        self.folder = url
        files = folder
    }

    /// ``init(folder:)`` away from the caller's thread.
    /// - Throws: ``StoreOpeningError``.
    public static func open(in folder: URL) async throws -> ChatStore {
        try await blocking { Result { try ChatStore(folder: folder) } }.get()
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
    public func close() async {
        await Self.blocking { self.closeNow() }
    }

    /// ``close()`` on the caller's thread, where no call is under way.
    func closeForRepair() { closeNow() }

    private func closeNow() {
        state.withLock { state in
            if !state.isClosed, !state.isSuspect { lock.noteClosing() }
            state.isClosed = true
        }
        do {
            // Its readers close first, as only a writer that closes last empties and removes the log.
            for pool in [history, pending] {
                pool.releaseMemory()
                try pool.close()
            }
            state.withLock { state in
                if state.isSuspect { lock.noteSuspect() } else if !state.isUnchecked { lock.noteClean() }
            }
        } catch {
            // Left as it is, the lock's note makes the next start check the databases.
        }
        lock.release()
    }

    /// Waits on a thread of Dispatch's. A read under way ends on a thread of Swift's pool: blocking those waits for ever.
    private static func blocking<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T {
        await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .userInitiated).async { continuation.resume(returning: work()) }
        }
    }

    /// Whether ``checkHistory()`` has something to do.
    public var needsCheck: Bool { state.withLock { $0.isUnchecked } }

    /// Checks each page of a history that was too large to be checked before it was opened, beside its use. Takes about
    /// a second for each 200 MB.
    ///
    /// - Returns: what is wrong, in SQLite's words; nil if all is well, the check was not needed or the store was
    ///   closed meanwhile. After damage the next opening is refused as ``StoreOpeningError/damaged(path:reason:)``.
    public func checkHistory() async -> String? {
        guard needsCheck else { return nil }
        let problem = await Self.blocking { StoreInspection.problem(in: self.files.history) }
        return state.withLock { state in
            guard !state.isClosed else { return nil }
            state.isUnchecked = false
            if problem != nil {
                state.isSuspect = true
                lock.noteSuspect()
            }
            return problem
        }
    }

    /// SQLite's full check of pages, indexes and references. Takes seconds with a long history.
    /// - Returns: what is wrong, a line each; empty when all is well.
    public func integrityProblems() async throws -> [String] {
        @Sendable func check(_ db: Database) throws -> [String] {
            let pages = try String.fetchAll(db, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
            let references = try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").map { "dangling reference: \($0)" }
            return pages + references
        }
        return try await read(check) + readPending(check)
    }

    func read<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        do { return try await history.read(body) } catch { throw noted(error) }
    }

    func write<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        do { return try await history.write(body) } catch { throw noted(error) }
    }

    /// Writes what can be told or fetched again: after a loss of power it may be missing, whole.
    func writeCache<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        do {
            return try await history.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA synchronous = NORMAL")
                defer { try? db.execute(sql: "PRAGMA synchronous = FULL") }
                var result: T?
                try db.inTransaction {
                    result = try body(db)
                    return .commit
                }
                return result!
            }
        } catch {
            throw noted(error)
        }
    }

    func readPending<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        do { return try await pending.read(body) } catch { throw noted(error) }
    }

    func writePending<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        do { return try await pending.write(body) } catch { throw noted(error) }
    }

    /// The error as callers know it.
    private func noted(_ error: any Error) -> any Error {
        if error is CancellationError || error is ChatError { return error }
        if error.isDamage {
            state.withLock { state in
                state.isSuspect = true
                // A crash that follows is not to hide it.
                if !state.isClosed { lock.noteSuspect() }
            }
        }
        return ChatError(storage: error)
    }

    private static func configuration(_ label: String, maxReaders: Int) -> Configuration {
        var configuration = Configuration()
        configuration.label = label
        configuration.maximumReaderCount = maxReaders
        // Only someone's SQLite shell can be in the way: the lock keeps other stores out.
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { db in
            // What was deleted is to be gone from the file, too.
            try db.execute(sql: "PRAGMA secure_delete = ON")
        }
        return configuration
    }
}
