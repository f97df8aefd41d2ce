public import Foundation
import Glibc

/// Questions about the file that do not require opening it.
extension KeyStore {
    /// Whether the file exists, readable or not.
    public static func exists(in folder: URL) -> Bool {
        let file = file(in: folder)
        return file.exists || file.logSize > 0 || rebuilt(of: file).exists
    }

    private static func mark(in folder: URL) -> String { StoreFolder(url: folder).path("keys.begun") }

    /// The device whose keys were last created in the file, so that a missing file counts as damage. `nil` if there
    /// were none, or if they were set aside.
    /// - Throws: ``StoreOpeningError`` if this cannot be read.
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

    /// Renames an unreadable file, so that another device's keys can be created. Nothing is deleted.
    /// - Throws: ``StoreOpeningError``. The file then keeps its name, or the next call completes the rename.
    public static func setAside(in folder: URL, now: Date) throws(StoreOpeningError) {
        let file = file(in: folder)
        // Remove the mark before the file: if only the file remains, it is set aside again instead of counting as
        // damaged.
        let mark = mark(in: folder)
        if FileSystem.exists(mark), unlink(mark) != 0 { throw .unwritable(path: mark) }
        let name = file.path + "-earlier-" + StoreFolder.stamp(now)
        for attempt in 1...1000 {
            let target = attempt == 1 ? name : "\(name)-\(attempt)"
            guard ["", "-wal", "-rebuilt"].allSatisfy({ !FileSystem.exists(target + $0) }) else { continue }
            // Rename the log first, so that a new file never finds it. What an interrupted repair left comes last, as
            // the file is not opened until then. It must not replace the next device's keys.
            let renamed = [
                (file.log, target + "-wal"), (file.path, target), (rebuilt(of: file).path, target + "-rebuilt"),
            ]
            for (from, to) in renamed where FileSystem.exists(from) {
                guard rename(from, to) == 0 else { throw .unwritable(path: from) }
            }
            unlink(file.path + "-shm")
            FileSystem.syncFolder(folder.path)
            return
        }
        throw .unwritable(path: name)
    }
}
