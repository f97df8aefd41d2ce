import Glibc
import Synchronization

/// Holds a store for one process, and remembers whether it was closed in an orderly way.
///
/// The kernel drops the lock with the process, however that ends. What the file says tells the next opener
/// whether the database was completed and closed: only `clean` spares it the check.
final class StoreLock: Sendable {
    enum Ending: Sendable {
        /// Never opened before, or the first opening did not come to its end.
        case none
        case clean
        case unclean
    }

    /// How the store's last use ended.
    let lastEnding: Ending
    /// Negative once released.
    private let descriptor: Mutex<Int32>

    init(path: String) throws(StoreOpeningError) {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            throw errno == ENOSPC || errno == EDQUOT ? .diskFull(path: path) : .unwritable(path: path)
        }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            let reason = errno
            close(file)
            throw reason == EWOULDBLOCK ? .busy : .unwritable(path: path)
        }
        fchmod(file, 0o600)
        lastEnding = Self.read(file)
        descriptor = Mutex(file)
    }

    deinit { release() }

    /// From here on the end counts as unclean, until ``noteClean()``; while the database is being created, as none.
    func noteOpen(isNew: Bool, path: String) throws(StoreOpeningError) {
        let failure: Int32? = descriptor.withLock { file in
            guard Self.write(isNew ? "new" : "open", to: file), fsync(file) == 0 else { return errno }
            return nil
        }
        if let failure {
            throw failure == ENOSPC || failure == EDQUOT ? .diskFull(path: path) : .unwritable(path: path)
        }
    }

    /// Not synced: should it be lost, the next start checks once too often.
    func noteClean() {
        descriptor.withLock { file in
            if file >= 0 { _ = Self.write("clean", to: file) }
        }
    }

    func release() {
        descriptor.withLock { file in
            guard file >= 0 else { return }
            close(file)
            file = -1
        }
    }

    private static func read(_ file: Int32) -> Ending {
        var buffer = [UInt8](repeating: 0, count: 16)
        let count = pread(file, &buffer, buffer.count, 0)
        guard count > 0 else { return .none }
        switch String(decoding: buffer.prefix(count), as: UTF8.self) {
        case "clean\n": return .clean
        case "new\n": return .none
        default: return .unclean
        }
    }

    private static func write(_ word: String, to file: Int32) -> Bool {
        let bytes = Array((word + "\n").utf8)
        return pwrite(file, bytes, bytes.count, 0) == bytes.count && ftruncate(file, off_t(bytes.count)) == 0
    }
}
