import ChatCore
import Dispatch
public import Foundation
import GRDB
import Synchronization

/// The database of end-to-end encryption: `keys.sqlite` in the folder of an account's ``ChatStore``, which must be
/// open, as its lock protects the folder.
///
/// Each change is durable when its call returns. The file is separate, so that damage to it does not affect the rest of
/// the account, and is never created in place of one that was lost.
public final class KeyStore: Sendable {
    private let pool: DatabasePool
    private let file: DatabaseFile
    private let suspicion: MarkFile
    /// How many changes were stored with which keys were used, beside the file. The file has the same number, and an
    /// older copy of it a lower one: keys that it has were used since.
    private let uses: MarkFile
    /// Whether the file was too large to check when it was opened. Call ``check()`` while using it.
    public let needsCheck: Bool

    private let changes = Mutex<UInt64>(0)
    private let state = Mutex(State())

    private struct State {
        var isSuspect = false
        var isClosed = false
    }

    /// Called before each access, so that tests can make one fail.
    let beforeAccess = AccessHook()

    static func file(in folder: URL) -> DatabaseFile { StoreFolder(url: folder).keys }

    /// - Parameter isNew: Whether the account has never had keys. Otherwise, a missing file counts as damage.
    public init(folder: URL, isNew: Bool) throws(StoreOpeningError) {
        file = Self.file(in: folder)
        suspicion = Self.suspicion(in: folder)
        uses = Self.uses(in: folder)
        let counted = try uses.read()
        // The log may be gone already. Without it, the file is an earlier, intact one: what came since would be lost.
        guard !Self.rebuilt(of: file).exists else {
            throw .damaged(path: file.path, reason: "its repair was interrupted")
        }
        let lasting = LastingRecords(in: folder)
        // With these, the former file was set aside, and the next one was about to be created.
        let isUnbegun = file.isUnbegun
        let count: Int64
        if isNew || lasting.exist, isUnbegun {
            _ = try file.create()
            needsCheck = false
        } else {
            guard file.exists else { throw .damaged(path: file.path, reason: "the database is missing") }
            // A small file is checked each time it is opened, as after a crash.
            let isSuspect = try suspicion.read() != nil
            needsCheck = try StoreInspection(file: file, lastEnding: isSuspect ? .suspect : .unclean).run()
        }
        // If the mark cannot be removed, the next opening only checks once more.
        try? suspicion.remove()
        FileSystem.syncFolder(folder.path)
        do {
            pool = try DatabasePool(path: file.path, configuration: Self.configuration)
            // GRDB sets NORMAL when it turns on the write-ahead log.
            try pool.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 100")
            }
            try file.schema.migrate(pool)
            count = try pool.writeWithoutTransaction { db in
                try Self.compareUses(db, with: counted, isCreated: isUnbegun)
            }
        } catch {
            throw StoreOpeningError(error, path: file.path)
        }
        // What is queued may leave without another change. That the file is an older copy is noted in it by now.
        if count > 0 { try uses.write(String(count)) }
        try lasting.move(to: pool)
    }

    private static let configuration: Configuration = {
        var configuration = Configuration()
        configuration.label = "keys"
        configuration.maximumReaderCount = 1
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { db in
            // Overwrite deleted content in the file.
            try db.execute(sql: "PRAGMA secure_delete = ON")
        }
        return configuration
    }()

    /// Checks all pages. Takes about 1 s per 200 MB. After damage the next opening throws
    /// ``StoreOpeningError/damaged(path:reason:)``, so that the file is repaired.
    /// - Returns: SQLite's first problem, or `nil` if there is none or the file could not be checked now.
    public func check() async -> String? {
        let problem: String? = await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .utility).async { [file] in
                // A failed check says nothing, neither that the file is damaged nor that it is not.
                continuation.resume(returning: try? StoreInspection.problem(in: file))
            }
        }
        if problem != nil { noteSuspect() }
        return problem
    }

    /// Whether signs of damage were found. The next opening then checks the whole file before use.
    public var isSuspect: Bool { state.withLock { $0.isSuspect } }

    private func noteSuspect() {
        state.withLock { state in
            // Once closed, the file may have been renamed: the mark would concern another one.
            guard !state.isClosed else { return }
            state.isSuspect = true
            // If it cannot be written, as on a full disk, whoever meets the damage again writes it.
            try? suspicion.write("1")
        }
    }

    /// Whether the file was rebuilt from a damaged one or is an older copy, so that records may be missing or outdated.
    /// Encryption must not continue with them until ``noteOutdated()``.
    public func wasRepaired() async throws -> Bool {
        try await read { db in
            try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM setting WHERE name = 'repaired')") ?? true
        }
    }

    /// Call this once the records of a rebuilt file, or of an older copy, are marked as outdated.
    public func noteOutdated() async throws {
        try await write { db in try db.execute(sql: "DELETE FROM setting WHERE name = 'repaired'") }
    }

    /// Closes the file: pending calls finish, later ones throw.
    public func close() async throws {
        defer { state.withLock { $0.isClosed = true } }
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            // Waits for reads, which complete on threads of Swift's pool: waiting on one of those could deadlock.
            DispatchQueue.global(qos: .userInitiated).async { [pool] in
                continuation.resume(
                    with: Result {
                        // Close readers first: only the last connection, if it can write, checkpoints and removes the
                        // log.
                        pool.releaseMemory()
                        try pool.close()
                    })
            }
        }
    }

    func read<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        do {
            try beforeAccess.run()
            return try await pool.read(body)
        } catch {
            throw noted(error)
        }
    }

    /// Reads without a transaction, which costs as much as a small query: for a single statement, or several of values
    /// that never change.
    func readOutsideTransaction<T: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> T
    ) async throws -> T {
        do {
            try beforeAccess.run()
            return try await pool.unsafeRead(body)
        } catch {
            throw noted(error)
        }
    }

    public func changeCount() async -> UInt64 { changes.withLock { $0 } }

    func write<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        // After the change: a concurrent read then has a lower number than its content and is repeated. A failed change
        // counts, too.
        defer { changes.withLock { $0 += 1 } }
        do {
            try beforeAccess.run()
            return try await pool.write(body)
        } catch {
            throw noted(error)
        }
    }

    /// Runs a change with which keys are used, and counts it in the file and beside it. As both are done when this
    /// returns, what was encrypted does not leave before.
    func writeUse(_ body: @escaping @Sendable (Database) throws -> Void) async throws {
        defer { changes.withLock { $0 += 1 } }
        do {
            try beforeAccess.run()
            // Within the writer's queue, so that the numbers are written in their order.
            try await pool.writeWithoutTransaction { [uses] db in
                try db.inTransaction {
                    try body(db)
                    let count = try Self.uses(in: db) &+ 1
                    try Self.setUses(count, in: db)
                    try uses.prepare(String(count))
                    return .commit
                }
                // The change is stored, and an error would have the caller undo it. Renaming a file that is on the disk
                // already hardly fails; the next change or opening then writes a number again.
                try? uses.finish()
            }
        } catch {
            throw noted(error)
        }
    }

    /// Maps a database error to ``ChatError`` and records signs of damage.
    private func noted(_ error: any Error) -> any Error {
        if error is CancellationError || error is ChatError { return error }
        if error.isDamage { noteSuspect() }
        return ChatError(storage: error)
    }
}
