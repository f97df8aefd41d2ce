import ChatCore
public import Foundation
import GRDB

/// The result of repairing a damaged store.
public struct StoreRepair: Equatable, Sendable {
    /// The unchanged damaged store, under its new name.
    public var setAside: URL
    /// The numbers of recovered items.
    public var rooms: Int
    public var messages: Int
    public var drafts: Int
    /// Pending messages and changes.
    public var queued: Int
}

extension ChatStore {
    private static let repairSetting = "store.repaired"

    /// Whether the store was rebuilt from a damaged one, so that rows may be missing.
    func wasRepaired() async throws -> Bool { try await setting(Self.repairSetting) != nil }

    /// Rebuilds a store that ``init(folder:)`` rejected as damaged, from all rows on intact pages. The damaged one
    /// is renamed, see ``setAside(at:now:)``, and otherwise unchanged.
    ///
    /// Takes about a minute for a million messages. If the process is killed, either the damaged or the repaired store
    /// is in place, and the next repair removes what this one had built.
    /// - Parameter forgotten: Names of settings that say what the store holds, such as the position of a sync. They are
    ///   left out: rows before that position may be missing.
    /// - Throws: ``StoreOpeningError``; the damaged store is then in its place.
    public static func repair(
        at url: URL, forgetting forgotten: [String] = [], now: Date = Date()
    ) throws(StoreOpeningError) -> StoreRepair {
        let folder = StoreFolder(url: url)
        // A damaged lock file must not prevent the repair; one that is in use does, below.
        let lock = try? StoreLock(path: folder.lock)
        defer { lock?.release() }
        if lock == nil, case .busy? = lockFailure(folder) { throw .busy }
        // Without the lock, another process may be repairing this store.
        if lock != nil { removeUnfinishedRepairs(of: url) }
        let name = "\(repairPrefix(of: url))\(UUID().uuidString.prefix(8))"
        let rebuilt = StoreFolder(url: url.deletingLastPathComponent().appendingPathComponent(name, isDirectory: true))
        do {
            var repair = try rebuild(folder, as: rebuilt, forgetting: forgotten)
            // Copies are not synced: after a power loss, the rename could be durable and what it put in place empty.
            try rebuilt.sync()
            repair.setAside = try folder.replace(by: rebuilt, at: now)
            return repair
        } catch {
            // The remains of the failed repair only take up space.
            try? FileManager.default.removeItem(at: rebuilt.url)
            throw error as? StoreOpeningError ?? StoreOpeningError(error, path: rebuilt.history.path)
        }
    }

    /// The beginning of the name of a folder in which a store is being rebuilt. Eight hexadecimal digits follow.
    private static func repairPrefix(of url: URL) -> String { url.lastPathComponent + "-repair-" }

    /// Removes what earlier repairs of a store had built when their process was killed.
    private static func removeUnfinishedRepairs(of url: URL) {
        let parent = url.deletingLastPathComponent()
        let prefix = repairPrefix(of: url)
        // What cannot be listed or removed only takes up space.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
        for name in names where name.hasPrefix(prefix) {
            let digits = name.dropFirst(prefix.count)
            guard digits.count == 8, digits.allSatisfy({ "0123456789ABCDEF".contains($0) }) else { continue }
            try? FileManager.default.removeItem(at: parent.appendingPathComponent(name))
        }
    }

    private static func lockFailure(_ folder: StoreFolder) -> StoreOpeningError? {
        do {
            _ = try StoreLock(path: folder.lock)
            return nil
        } catch {
            return error
        }
    }

    private static func rebuild(
        _ damaged: StoreFolder, as rebuilt: StoreFolder, forgetting forgotten: [String]
    ) throws -> StoreRepair {
        let store = try ChatStore(folder: rebuilt.url)
        store.closeForRepair()
        for (old, new) in zip(damaged.files, rebuilt.files) {
            if try isIntact(old) {
                // Some may not exist, and if one cannot be removed, the copy below throws.
                for path in [new.path] + new.companions { try? FileManager.default.removeItem(atPath: path) }
                for (source, target) in [(old.path, new.path), (old.log, new.log)] where FileSystem.exists(source) {
                    try FileManager.default.copyItem(atPath: source, toPath: target)
                }
            } else {
                let queue = try DatabaseQueue(path: new.path)
                // If closing fails and the file stays open, `finish` cannot open it again and throws.
                defer { try? queue.close() }
                try Recovery(damaged: old, rebuilt: queue).run()
            }
        }
        try copyKeys(from: damaged, to: rebuilt)
        return try finish(rebuilt, setAside: damaged.url, forgetting: forgotten)
    }

    /// Copies the key files and the marks beside them unchanged: ``KeyStore`` checks them itself. Keys that stayed behind
    /// would be lost to the account, and without the marks so would their credential.
    private static func copyKeys(from damaged: StoreFolder, to rebuilt: StoreFolder) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: damaged.url.path)
        // SQLite recreates the log's index. In this order, a rebuilt file is not older than the one that it replaces
        // (``KeyStore/repair(in:now:)``).
        for name in names.sorted() where name.hasPrefix("keys.") && !name.hasSuffix("-shm") {
            try FileManager.default.copyItem(atPath: damaged.path(name), toPath: rebuilt.path(name))
        }
    }

    private static func isIntact(_ file: DatabaseFile) throws -> Bool {
        guard file.exists, file.size > 1, !FileSystem.isDirectory(file.path) else { return false }
        do {
            _ = try StoreInspection(file: file, lastEnding: .suspect).run()
            return file.versionInHeader > 0
        } catch .damaged {
            return false
        }
    }

    /// Opens the rebuilt store once, as a test, and records in it that it was repaired.
    private static func finish(
        _ rebuilt: StoreFolder, setAside: URL, forgetting forgotten: [String]
    ) throws -> StoreRepair {
        let store = try ChatStore(folder: rebuilt.url)
        defer { store.closeForRepair() }
        // Recorded before it replaces the damaged store, so that it is never used without this record.
        try store.history.write { db in
            try SettingTable(db: db).set("1", for: repairSetting)
            for name in forgotten { try SettingTable(db: db).remove(name) }
        }
        @Sendable func count(_ table: String, _ db: Database) throws -> Int {
            try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table)") ?? 0
        }
        let (rooms, messages) = try store.history.read { db in (try count("room", db), try count("message", db)) }
        let (drafts, queued) = try store.pending.read { db in (try count("draft", db), try count("outbox", db)) }
        return StoreRepair(setAside: setAside, rooms: rooms, messages: messages, drafts: drafts, queued: queued)
    }
}
