public import Foundation
import Glibc

/// What can be said of the file without opening it.
extension KeyStore {
    /// Whether there is a file, in whatever state.
    public static func exists(in folder: URL) -> Bool {
        let file = file(in: folder)
        return file.exists || file.logSize > 0
    }

    private static func mark(in folder: URL) -> String { StoreFolder(url: folder).path("keys.begun") }

    /// The device whose keys were written there once, so that a missing file is damage and no beginning; `nil` if there
    /// were none, or if they were set aside.
    /// - Throws: ``StoreOpeningError`` if that cannot be read.
    public static func begunDevice(in folder: URL) throws(StoreOpeningError) -> String? {
        let path = mark(in: folder)
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

    /// - Throws: ``StoreOpeningError``.
    public static func noteBegun(_ device: String, in folder: URL) throws(StoreOpeningError) {
        guard try begunDevice(in: folder) != device else { return }
        let path = mark(in: folder)
        let descriptor = Glibc.open(path + "-new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .unwritable(path: path) }
        defer { Glibc.close(descriptor) }
        let bytes = Array(device.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0,
            rename(path + "-new", path) == 0
        else { throw .unwritable(path: path) }
        FileSystem.syncFolder(folder.path)
    }

    /// Gives a file that nothing can read any more another name, so that another device's keys have its place. Nothing is
    /// deleted.
    /// - Throws: ``StoreOpeningError``: the file is in its place then, or the next call goes on.
    public static func setAside(in folder: URL, now: Date) throws(StoreOpeningError) {
        let file = file(in: folder)
        // Before the file: without it, what is left is set aside once more, and not taken for damage.
        let mark = mark(in: folder)
        if FileSystem.exists(mark), unlink(mark) != 0 { throw .unwritable(path: mark) }
        let name = file.path + "-earlier-" + StoreFolder.stamp(now)
        for attempt in 1...1000 {
            let target = attempt == 1 ? name : "\(name)-\(attempt)"
            guard !FileSystem.exists(target), !FileSystem.exists(target + "-wal") else { continue }
            // The log first: a new file must not find it.
            for (from, to) in [(file.log, target + "-wal"), (file.path, target)] where FileSystem.exists(from) {
                guard rename(from, to) == 0 else { throw .unwritable(path: from) }
            }
            unlink(file.path + "-shm")
            FileSystem.syncFolder(folder.path)
            return
        }
        throw .unwritable(path: name)
    }
}
