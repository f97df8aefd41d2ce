import CStore
import Foundation
import Glibc

/// The folder of one store, with its databases, their companion files and the lock.
struct StoreFolder: Sendable {
    let url: URL

    var history: DatabaseFile { DatabaseFile(path: path("chat.sqlite"), schema: .history) }
    var pending: DatabaseFile { DatabaseFile(path: path("unsent.sqlite"), schema: .pending) }
    var files: [DatabaseFile] { [history, pending] }
    /// Opened and repaired separately (``KeyStore``), if the account has keys.
    var keys: DatabaseFile { DatabaseFile(path: path("keys.sqlite"), schema: .keys) }
    var lock: String { path("chat.lock") }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    /// Creates the folder and its parents, accessible to the user only.
    func create() throws(StoreOpeningError) {
        do {
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw .unwritable(path: url.path)
        }
        guard FileSystem.isDirectory(url.path) else { throw .unwritable(path: url.path) }
        FileSystem.narrow(url.path, to: 0o700)
    }

    /// Whether the folder contains no database and no log.
    var isEmpty: Bool { files.allSatisfy { !$0.exists && $0.logSize == 0 } }

    /// Stores of the first version had no database for unsent data.
    func mayBeMissing(_ file: DatabaseFile) -> Bool {
        file.path == pending.path && (1..<Schema.stepThatDropsDrafts).contains(history.versionInHeader)
    }

    /// Makes the content of all files in the folder durable.
    func sync() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: url.path) {
            try FileSystem.syncFile(path(name))
        }
        FileSystem.syncFolder(url.path)
    }

    /// Replaces this folder with another one beside it, atomically where the file system supports it.
    ///
    /// The other folder first gets the name that this one will have. Otherwise, if the process were killed after the
    /// exchange, the damaged store would have the name of an unfinished repair, which the next repair removes.
    /// - Returns: This folder under its new name.
    func replace(by other: StoreFolder, at now: Date) throws(StoreOpeningError) -> URL {
        let exchange: UInt32 = 2
        let target = try other.setAside(at: now, as: url.lastPathComponent)
        if parlance_renameat2(AT_FDCWD, url.path, AT_FDCWD, target.path, exchange) == 0 {
            // The folders have swapped names.
            FileSystem.syncFolder(url.deletingLastPathComponent().path)
            return target
        }
        guard rename(target.path, other.url.path) == 0 else { throw .unwritable(path: target.path) }
        let aside = try setAside(at: now)
        guard rename(other.url.path, url.path) == 0 else { throw .unwritable(path: url.path) }
        FileSystem.syncFolder(url.deletingLastPathComponent().path)
        return aside
    }

    /// Renames the whole folder, so that databases and logs stay together.
    /// - Returns: The folder under its new name, beside the old one.
    func setAside(at now: Date, as name: String? = nil) throws(StoreOpeningError) -> URL {
        let stamp = Self.stamp(now)
        for attempt in 1...1000 {
            let suffix = attempt == 1 ? stamp : "\(stamp)-\(attempt)"
            let target = url.deletingLastPathComponent()
                .appendingPathComponent("\(name ?? url.lastPathComponent)-damaged-\(suffix)", isDirectory: true)
            guard !FileSystem.exists(target.path) else { continue }
            if rename(url.path, target.path) == 0 {
                FileSystem.syncFolder(url.deletingLastPathComponent().path)
                return target
            }
            // The name was taken in the meantime; `rename` never replaces a file or a folder with content.
            guard errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR else { break }
        }
        throw .unwritable(path: url.path)
    }

    static func stamp(_ date: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "yyyyMMdd-HHmmss"
        return formatter.string(from: date)
    }
}
