import Foundation
import Glibc

/// The folder of one store, which holds nothing else: the database with its companions, and the lock.
struct StoreFolder: Sendable {
    let url: URL

    var database: String { url.appendingPathComponent("chat.sqlite").path }
    var lock: String { url.appendingPathComponent("chat.lock").path }
    /// SQLite's write-ahead log and the index of it, which belong to the database.
    var companions: [String] { [database + "-wal", database + "-shm"] }

    /// Creates the folder, and those above it, for this user alone.
    func create() throws(StoreOpeningError) {
        do {
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw .unwritable(path: url.path)
        }
        guard isDirectory(url.path) else { throw .unwritable(path: url.path) }
        narrow(url.path, to: 0o700)
    }

    /// Creates an empty database file if there is none, so that SQLite gives its companions the same narrow rights.
    /// - Returns: whether there was none.
    func createDatabaseFile() throws(StoreOpeningError) -> Bool {
        let path = database
        guard size(of: path) != nil || size(of: companions[0]) ?? 0 == 0 else {
            // SQLite would delete a log without a database.
            throw .damaged(path: path, reason: "the database is missing beside its log")
        }
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            Glibc.close(descriptor)
            syncFolder(url.path)
            return true
        }
        switch errno {
        case EEXIST: break
        case ENOSPC, EDQUOT: throw .diskFull(path: path)
        default: throw .unwritable(path: path)
        }
        guard !isDirectory(path) else { throw .damaged(path: path, reason: "a folder is in the place of the database") }
        for file in [path] + companions { narrow(file, to: 0o600) }
        guard access(path, R_OK | W_OK) == 0 else { throw .unwritable(path: path) }
        return false
    }

    /// Renames the whole folder, which is one step: a database never parts from its log.
    /// - Returns: the folder under its new name, beside the old one.
    func setAside(at now: Date) throws(StoreOpeningError) -> URL {
        let stamp = Self.stamp(now)
        for attempt in 1...1000 {
            let suffix = attempt == 1 ? stamp : "\(stamp)-\(attempt)"
            let target = url.deletingLastPathComponent()
                .appendingPathComponent("\(url.lastPathComponent)-damaged-\(suffix)", isDirectory: true)
            guard !exists(target.path) else { continue }
            if rename(url.path, target.path) == 0 {
                syncFolder(url.deletingLastPathComponent().path)
                return target
            }
            // Something took the name in between: a folder with content or a file is never replaced by rename.
            guard errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR else { break }
        }
        throw .unwritable(path: url.path)
    }

    func size(of path: String) -> Int64? {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : nil
    }

    private func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    private func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Takes away rights beyond `mode`. Best effort: someone else's file is reported when it is opened.
    private func narrow(_ path: String, to mode: mode_t) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & 0o777 & ~mode != 0 || status.st_mode & mode != mode else {
            return
        }
        chmod(path, mode)
    }

    /// Makes a new or changed name in the folder survive a loss of power.
    private func syncFolder(_ path: String) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        Glibc.close(descriptor)
    }

    private static func stamp(_ date: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "yyyyMMdd-HHmmss"
        return formatter.string(from: date)
    }
}
