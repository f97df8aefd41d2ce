import Foundation
import Glibc

/// A short text in a file beside the databases.
struct MarkFile {
    private let path: String
    private let folder: String

    init(_ name: String, in folder: URL) {
        path = StoreFolder(url: folder).path(name)
        self.folder = folder.path
    }

    /// - Returns: `nil` if there is no such file.
    func read() throws(StoreOpeningError) -> String? {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return nil }
            throw .unwritable(path: path)
        }
        do {
            return String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
        } catch {
            throw .unwritable(path: path)
        }
    }

    /// Writes the text unless it is there. It is on the disk when this returns.
    func write(_ text: String) throws(StoreOpeningError) {
        guard try read() != text else { return }
        try prepare(text)
        try finish()
    }

    /// Writes the text to the disk, but beside the file until ``finish()``.
    func prepare(_ text: String) throws(StoreOpeningError) {
        let descriptor = Glibc.open(path + "-new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(errno) }
        defer { Glibc.close(descriptor) }
        let bytes = Array(text.utf8)
        errno = 0
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0 else {
            throw failure(errno)
        }
    }

    /// Replaces the file by what was prepared. That is on the disk when this returns.
    func finish() throws(StoreOpeningError) {
        guard rename(path + "-new", path) == 0 else { throw failure(errno) }
        FileSystem.syncFolder(folder)
    }

    private func failure(_ error: Int32) -> StoreOpeningError {
        [ENOSPC, EDQUOT].contains(error) ? .diskFull(path: path) : .unwritable(path: path)
    }

    /// Removes the file, if any. After a crash it may still be there.
    func remove() throws(StoreOpeningError) {
        guard !FileSystem.exists(path) || unlink(path) == 0 else { throw .unwritable(path: path) }
    }
}
