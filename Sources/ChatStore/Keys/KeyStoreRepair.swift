public import Foundation
import GRDB

extension KeyStore {
    /// Rebuilds a file that ``init(folder:isNew:)`` rejected as damaged from all intact rows. Nothing is deleted: the
    /// damaged file and its log are copied beside it first.
    ///
    /// If the process is killed, another call completes the repair.
    /// - Returns: The path of the damaged file's copy.
    /// - Throws: ``StoreOpeningError``. The damaged file is then unchanged, or it is rejected until another call has
    ///   completed the repair.
    @discardableResult
    public static func repair(in folder: URL, now: Date = Date()) throws(StoreOpeningError) -> URL {
        let damaged = file(in: folder)
        guard damaged.exists else { throw .damaged(path: damaged.path, reason: "the database is missing") }
        let rebuilt = rebuilt(of: damaged)
        // Whether the damaged file is as it was, with its log.
        var isUntouched = true
        var made: URL?
        do {
            let copy = try keepCopy(of: damaged, at: now)
            made = copy
            // A file with that name is complete, from a repair that was interrupted. Earlier versions went on writing
            // to the damaged file after that: do not return to the older keys.
            if rebuilt.exists, isOlder(rebuilt, than: damaged) {
                try FileManager.default.removeItem(atPath: rebuilt.path)
            }
            isUntouched = !rebuilt.exists
            if isUntouched { try rebuild(damaged, as: rebuilt) }
            // Remove the log before the new file is in place, as SQLite would apply it to that.
            for path in damaged.companions where FileSystem.exists(path) {
                isUntouched = false
                try FileManager.default.removeItem(atPath: path)
            }
            FileSystem.syncFolder(folder.path)
            guard rename(rebuilt.path, damaged.path) == 0 else {
                throw StoreOpeningError.unwritable(path: damaged.path)
            }
            FileSystem.syncFolder(folder.path)
            // If the mark cannot be removed, the next opening only checks once more.
            try? suspicion(in: folder).remove()
            return copy
        } catch {
            // What cannot be read now may be readable later: do not insist on a file that was rebuilt without it.
            if isUntouched { try? FileManager.default.removeItem(atPath: rebuilt.path) }
            var failure = error as? StoreOpeningError ?? StoreOpeningError(error, path: damaged.path)
            // A copy that does not fit does not mean that the file cannot be repaired.
            if (error as? CocoaError)?.code == .fileWriteOutOfSpace { failure = .diskFull(path: damaged.path) }
            // It is tried again, and each attempt makes a copy. Of what cannot be repaired, the copy stays.
            if case .damaged = failure { throw failure }
            if isUntouched, let made { removeCopy(made.path) }
            throw failure
        }
    }

    /// The file that replaces a damaged one once it is complete. As long as it exists, the damaged one is not opened.
    static func rebuilt(of damaged: DatabaseFile) -> DatabaseFile {
        DatabaseFile(path: damaged.path + "-rebuilt", schema: damaged.schema)
    }

    private static func isOlder(_ rebuilt: DatabaseFile, than damaged: DatabaseFile) -> Bool {
        guard let date = FileSystem.modified(rebuilt.path) else { return false }
        // An empty log is created by reading.
        let written = [damaged.path] + (damaged.logSize > 0 ? [damaged.log] : [])
        return written.compactMap(FileSystem.modified).contains { $0 > date }
    }

    private static func keepCopy(of damaged: DatabaseFile, at now: Date) throws -> URL {
        let name = damaged.path + "-damaged-" + StoreFolder.stamp(now)
        for attempt in 1...1000 {
            let target = attempt == 1 ? name : "\(name)-\(attempt)"
            guard !FileSystem.exists(target) else { continue }
            do {
                if FileSystem.exists(damaged.log) {
                    try FileManager.default.copyItem(atPath: damaged.log, toPath: target + "-wal")
                    try FileSystem.syncFile(target + "-wal")
                }
                try FileManager.default.copyItem(atPath: damaged.path, toPath: target)
                try FileSystem.syncFile(target)
            } catch {
                removeCopy(target)
                throw error
            }
            let copy = URL(fileURLWithPath: target)
            FileSystem.syncFolder(copy.deletingLastPathComponent().path)
            return copy
        }
        throw StoreOpeningError.unwritable(path: name)
    }

    private static func removeCopy(_ path: String) {
        for suffix in ["", "-wal"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    private static func rebuild(_ damaged: DatabaseFile, as rebuilt: DatabaseFile) throws {
        let unfinished = DatabaseFile(path: rebuilt.path + "-unfinished", schema: rebuilt.schema)
        for path in [unfinished.path] + unfinished.companions where FileSystem.exists(path) {
            try FileManager.default.removeItem(atPath: path)
        }
        _ = try unfinished.create()
        let queue = try DatabaseQueue(path: unfinished.path)
        do {
            try unfinished.schema.migrate(queue)
            try Recovery(damaged: damaged, rebuilt: queue).run()
            try queue.write { db in
                try db.execute(sql: "INSERT OR REPLACE INTO setting (name, value) VALUES ('repaired', '1')")
            }
        } catch {
            // The next attempt rebuilds it.
            try? queue.close()
            throw error
        }
        try queue.close()
        // Its name says that it is complete, and the log is removed because of that.
        try FileSystem.syncFile(unfinished.path)
        guard rename(unfinished.path, rebuilt.path) == 0 else { throw StoreOpeningError.unwritable(path: rebuilt.path) }
        FileSystem.syncFolder(URL(fileURLWithPath: rebuilt.path).deletingLastPathComponent().path)
    }
}
