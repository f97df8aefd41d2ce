import ChatCore
import Foundation
import Glibc

/// The hidden folder that an export is written to until it is complete. It is locked meanwhile: that distinguishes it
/// from what is left of a process that ended before.
final class ExportFolder {
    static let namePrefix = ".parlance-export-"
    /// The age in seconds after which a folder may be left over. Earlier versions locked none.
    static let maxAge: TimeInterval = 86400

    let url: URL
    /// Negative on a file system without locks.
    private let lock: Int32

    /// - Throws: ``ArchiveError``.
    init(in folder: URL) throws {
        url = folder.appending(path: Self.namePrefix + UUID().uuidString, directoryHint: .isDirectory)
        guard mkdir(url.path, 0o700) == 0 else { throw ExportFile.failure(folder.path) }
        lock = Self.locked(url.path) ?? -1
    }

    deinit {
        if lock >= 0 { close(lock) }
    }

    /// Removes the unencrypted copies that processes left which ended during an export.
    static func removeLeftovers(in folder: URL, now: Date) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        for name in names where name.hasPrefix(namePrefix) {
            guard UUID(uuidString: String(name.dropFirst(namePrefix.count))) != nil else { continue }
            let url = folder.appending(path: name, directoryHint: .isDirectory)
            var status = stat()
            guard lstat(url.path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == getuid(),
                now.timeIntervalSince1970 - TimeInterval(status.st_mtim.tv_sec) > maxAge, let lock = locked(url.path)
            else { continue }
            // If it cannot be removed, the next export tries again.
            try? FileManager.default.removeItem(at: url)
            close(lock)
        }
    }

    /// - Returns: The descriptor that holds the lock, or `nil` if another one does.
    private static func locked(_ path: String) -> Int32? {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }
}
