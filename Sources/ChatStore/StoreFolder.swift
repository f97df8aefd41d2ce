import CStore
import Foundation
import Glibc

/// The folder of one store, which holds nothing else: the databases with their companions, and the lock.
struct StoreFolder: Sendable {
    let url: URL

    var history: DatabaseFile { DatabaseFile(path: path("chat.sqlite"), schema: .history) }
    var pending: DatabaseFile { DatabaseFile(path: path("unsent.sqlite"), schema: .pending) }
    var files: [DatabaseFile] { [history, pending] }
    var lock: String { path("chat.lock") }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    /// Creates the folder, and those above it, for this user alone.
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

    /// Whether anything was ever stored here.
    var isEmpty: Bool { files.allSatisfy { !$0.exists && $0.logSize == 0 } }

    /// A store of the first version had no file for what is unsent.
    func mayBeMissing(_ file: DatabaseFile) -> Bool {
        file.path == pending.path && (1..<Schema.stepThatDropsDrafts).contains(history.versionInHeader)
    }

    /// Takes the place of this folder by another one beside it in one step, where the file system can do that.
    /// - Returns: this folder under its new name.
    func replace(by other: StoreFolder, at now: Date) throws(StoreOpeningError) -> URL {
        let exchange: UInt32 = 2
        guard parlance_renameat2(AT_FDCWD, url.path, AT_FDCWD, other.url.path, exchange) == 0 else {
            let aside = try setAside(at: now)
            guard rename(other.url.path, url.path) == 0 else { throw .unwritable(path: url.path) }
            return aside
        }
        // Each is under the other's name now.
        return try other.setAside(at: now, as: url.lastPathComponent)
    }

    /// Renames the whole folder, which is one step: a database never parts from its log.
    /// - Returns: the folder under its new name, beside the old one.
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
            // Something took the name in between: a folder with content or a file is never replaced by rename.
            guard errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR else { break }
        }
        throw .unwritable(path: url.path)
    }

    private static func stamp(_ date: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "yyyyMMdd-HHmmss"
        return formatter.string(from: date)
    }
}
