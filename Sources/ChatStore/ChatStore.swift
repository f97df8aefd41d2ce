import ChatCore
import Dispatch
public import Foundation
import GRDB
import Synchronization

/// The storage of one account, in two SQLite databases: the history, and unsent messages and drafts (see
/// ``Schema/pending`` for the reason).
///
/// Changes are atomic, and durable when a call returns (`synchronous=FULL`) unless its documentation says otherwise.
/// Calls run on the store's own queues, never on the caller's thread. They throw only ``ChatError``, or
/// `CancellationError` if their task was canceled, in which case nothing was changed.
/// A write sees all writes whose calls returned before it was made.
public final class ChatStore: Sendable {
    /// The folder that holds the databases.
    public let folder: URL
    let history: DatabasePool
    let pending: DatabasePool
    private let files: StoreFolder
    private let lock: StoreLock
    /// Whatever prevents the shutdown from being recorded as clean.
    private let state: Mutex<State>
    /// The open databases. Locked, so that none is closed during ``releaseMemory()``.
    private let openPools: Mutex<[DatabasePool]>

    let unsentFeed = LeftRoomFeed<UnsentContent>()
    let removalFeed = LeftRoomFeed<RoomRemoval>()

    /// Runs before each access to a database, for tests in which one fails.
    let beforeAccess = AccessHook()

    private struct State {
        /// Signs of damage were found; the next start runs a check.
        var isSuspect = false
        /// The history has not been checked yet.
        var isUnchecked: Bool
        var isClosed = false
    }

    /// Opens the store in its own folder, creating it if needed (mode 0700, files 0600).
    ///
    /// Blocks for a few milliseconds, or up to 0.1 s after an unclean shutdown. A history too large to be checked in
    /// that time is left to ``checkHistory()``.
    public init(folder url: URL) throws(StoreOpeningError) {
        let folder = StoreFolder(url: url)
        try folder.create()
        lock = try StoreLock(path: folder.lock)
        let lastEnding = lock.lastEnding
        let isNew = folder.isEmpty && lastEnding != .unclean || lastEnding == .none
        let isUnchecked = try Self.prepareFiles(of: folder, lock: lock, isNew: isNew)
        FileSystem.syncFolder(url.path)
        state = Mutex(State(isUnchecked: isUnchecked))
        try lock.noteOpening(isNew: isNew, path: folder.lock)
        pending = try Self.openPending(folder.pending)
        history = try Self.openHistory(folder.history, movingDraftsTo: pending)
        openPools = Mutex([history, pending])
        do {
            try RestoredDraft.moveAll(from: history, to: pending)
            try LostRooms.recover(of: pending, in: history)
        } catch {
            // Not fatal: later reads fail with the same error, and the next start checks the databases.
            state.withLock { $0.isSuspect = true }
        }
        try lock.noteOpen(path: folder.lock)
        self.folder = url
        files = folder
    }

    /// Creates the database files that are missing, and inspects the others.
    /// - Returns: Whether one is too large to be checked now.
    private static func prepareFiles(
        of folder: StoreFolder, lock: StoreLock, isNew: Bool
    ) throws(StoreOpeningError) -> Bool {
        var isUnchecked = false
        for file in folder.files {
            if file.isUnbegun, folder.mayBeMissing(file) { continue }
            if try file.create() {
                guard isNew else {
                    // If the empty file remains, the next start finds it damaged.
                    try? FileManager.default.removeItem(atPath: file.path)
                    throw .damaged(path: file.path, reason: "the database is missing")
                }
            } else {
                // Without its write-ahead log the database would silently lose its latest changes.
                guard !lock.hasLeftoverLogs || FileSystem.exists(file.log) else {
                    throw .damaged(path: file.path, reason: "the write-ahead log is missing")
                }
                if try StoreInspection(file: file, lastEnding: lock.lastEnding).run() { isUnchecked = true }
            }
        }
        return isUnchecked
    }

    private static func openPending(_ file: DatabaseFile) throws(StoreOpeningError) -> DatabasePool {
        do {
            let pool = try DatabasePool(path: file.path, configuration: configuration("unsent", maxReaders: 1))
            // GRDB sets NORMAL when it turns on the write-ahead log.
            try pool.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 100")
            }
            try file.schema.migrate(pool)
            return pool
        } catch {
            throw StoreOpeningError(error, path: file.path)
        }
    }

    private static func openHistory(
        _ file: DatabaseFile, movingDraftsTo pending: DatabasePool
    ) throws(StoreOpeningError) -> DatabasePool {
        do {
            let pool = try DatabasePool(path: file.path, configuration: configuration("history", maxReaders: 3))
            try pool.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA synchronous = FULL") }
            try file.schema.migrate(pool) { step, db in
                if step == Schema.stepThatDropsDrafts { try DraftMove.run(from: db, to: pending) }
                if step == Schema.stepThatRefetchesHistory { try MisplacedChunks(db: db).removeAll() }
            }
            return pool
        } catch {
            throw StoreOpeningError(error, path: file.path)
        }
    }

    /// Calls ``init(folder:)`` off the caller's thread, and goes on removing what a sync has left.
    /// - Throws: ``StoreOpeningError``.
    public static func open(in folder: URL) async throws -> ChatStore {
        let store = try await blocking { Result { try ChatStore(folder: folder) } }.get()
        store.removeLeftRooms(await blocking { store.stageLeftRooms() })
        return store
    }

    /// Returns the rooms that a sync has left and whose history is still there, which lists do not show; none if they
    /// cannot be read.
    private func stageLeftRooms() -> [RoomID] {
        guard let left = try? history.read({ db in try StagedRooms(db: db).left }), !left.isEmpty else { return [] }
        return (try? history.write { db in try StagedRooms(db: db).stageLeft() }) ?? []
    }

    /// Renames the folder of a store that cannot be opened, so that a new one can be created. Nothing is deleted or
    /// overwritten; database and log move in one rename.
    ///
    /// - Returns: The folder's new location beside the old one: `NAME-damaged-YYYYMMDD-HHMMSS`, in UTC.
    /// - Throws: ``StoreOpeningError/busy`` while a process has it open, ``StoreOpeningError/unwritable(path:)`` if the
    ///   parent folder does not allow it.
    public static func setAside(at folder: URL, now: Date = Date()) throws(StoreOpeningError) -> URL {
        let folder = StoreFolder(url: folder)
        var lock: StoreLock?
        do {
            lock = try StoreLock(path: folder.lock)
        } catch .busy {
            throw .busy
        } catch {
            // A damaged lock file must not prevent recovery.
            lock = nil
        }
        defer { lock?.release() }
        return try folder.setAside(at: now)
    }

    /// Closes the store: pending calls finish, later ones throw.
    public func close() async {
        await Self.blocking { self.closeNow() }
    }

    /// Runs ``close()`` on the caller's thread. No call may be running.
    func closeForRepair() { closeNow() }

    private func closeNow() {
        unsentFeed.finish()
        removalFeed.finish()
        state.withLock { state in
            if !state.isClosed, !state.isSuspect { lock.noteClosing() }
            state.isClosed = true
        }
        openPools.withLock { $0 = [] }
        do {
            // Close readers first: only a writer that closes last checkpoints and removes the log.
            for pool in [history, pending] {
                pool.releaseMemory()
                try pool.close()
            }
            state.withLock { state in
                if state.isSuspect { lock.noteSuspect() } else if !state.isUnchecked { lock.noteClean() }
            }
        } catch {
            // Leave the lock's state alone, so that the next start checks the databases.
        }
        lock.release()
    }

    /// Blocks a Dispatch thread. Reads in progress complete on a thread of Swift's cooperative pool, so blocking those
    /// would deadlock.
    private static func blocking<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T {
        await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .userInitiated).async { continuation.resume(returning: work()) }
        }
    }

    /// Frees cached database pages. The next reads take some milliseconds longer.
    public func releaseMemory() async {
        await Self.blocking {
            self.openPools.withLock { pools in
                for pool in pools { pool.releaseMemory() }
            }
        }
    }

    /// Whether ``checkHistory()`` still has to run.
    public var needsCheck: Bool { state.withLock { $0.isUnchecked } }

    /// Checks all pages of a history that was too large to be checked at opening, while the store is in use. Takes
    /// about 1 s per 200 MB.
    ///
    /// - Returns: SQLite's error report, or `nil` if the history is intact, needed no check or could not be checked, or
    ///   the store was closed meanwhile. After damage the next opening throws
    ///   ``StoreOpeningError/damaged(path:reason:)``.
    public func checkHistory() async -> String? {
        guard needsCheck else { return nil }
        let result = await Self.blocking { Result { try StoreInspection.problem(in: self.files.history) } }
        return state.withLock { state in
            // A failed check says nothing: the history stays unchecked, so that the next start checks it.
            guard !state.isClosed, case .success(let problem) = result else { return nil }
            state.isUnchecked = false
            if problem != nil {
                state.isSuspect = true
                lock.noteSuspect()
            }
            return problem
        }
    }

    /// Runs SQLite's full integrity and foreign key checks. Takes seconds with a long history.
    /// - Returns: One line for each problem; empty if there is none.
    public func integrityProblems() async throws -> [String] {
        @Sendable func check(_ db: Database) throws -> [String] {
            let pages = try String.fetchAll(db, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
            let references = try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").map { "dangling reference: \($0)" }
            return pages + references
        }
        return try await read(check) + readPending(check)
    }

    func read<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        do {
            try willAccess()
            return try await history.read(body)
        } catch {
            throw noted(error)
        }
    }

    func write<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        do {
            try willAccess()
            return try await history.write(body)
        } catch {
            throw noted(error)
        }
    }

    /// Writes data that the server can send again: a power loss may drop the transaction, but only as a whole.
    func writeCache<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        do {
            try willAccess()
            return try await history.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA synchronous = NORMAL")
                // Only sets a number in memory: it can fail only if the connection is closed.
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
        do {
            try willAccess()
            return try await pending.read(body)
        } catch {
            throw noted(error)
        }
    }

    func writePending<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        do {
            try willAccess()
            return try await pending.write(body)
        } catch {
            throw noted(error)
        }
    }

    private func willAccess() throws { try beforeAccess.run() }

    /// Maps a database error to ``ChatError`` and records signs of damage.
    private func noted(_ error: any Error) -> any Error {
        if error is CancellationError || error is ChatError { return error }
        if error.isDamage {
            state.withLock { state in
                state.isSuspect = true
                // Record it now, in case the process crashes before it closes the store.
                if !state.isClosed { lock.noteSuspect() }
            }
        }
        return ChatError(storage: error)
    }

    private static func configuration(_ label: String, maxReaders: Int) -> Configuration {
        var configuration = Configuration()
        configuration.label = label
        configuration.maximumReaderCount = maxReaders
        // ``StoreLock`` keeps other stores out, so only a manually opened SQLite shell can hold a lock.
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { db in
            // Overwrite deleted content in the file.
            try db.execute(sql: "PRAGMA secure_delete = ON")
        }
        return configuration
    }
}
