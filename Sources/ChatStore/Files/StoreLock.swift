import Glibc
import Synchronization

/// Locks a store for one process, and records whether it was closed cleanly.
///
/// The kernel releases the lock when the process ends, however it ends. The file's content tells the next start how:
/// only `clean` skips the check.
final class StoreLock: Sendable {
    enum Ending: Sendable {
        /// Never opened, or the first opening was not completed.
        case none
        case clean
        case unclean
        /// Signs of damage were found while the store was open.
        case suspect
    }

    /// How the last use of the store ended.
    let lastEnding: Ending
    /// Whether it ended while both databases were open, so that both must have a log.
    let hasLeftoverLogs: Bool
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
        let word = Self.read(file)
        lastEnding = Self.ending(word)
        hasLeftoverLogs = word == Self.wordForOpen
        descriptor = Mutex(file)
    }

    deinit { release() }

    /// Records that the store is being opened. Until ``noteClean()`` an exit counts as ``Ending/unclean``; while the
    /// databases are being created, as ``Ending/none``.
    func noteOpening(isNew: Bool, path: String) throws(StoreOpeningError) {
        try noteSynced(isNew ? "new" : "opening", path: path)
    }

    /// Records that both databases are open.
    func noteOpen(path: String) throws(StoreOpeningError) {
        try noteSynced(Self.wordForOpen, path: path)
    }

    /// Records that the databases are being closed, which removes their logs.
    func noteClosing() { note("closing") }

    private func noteSynced(_ word: String, path: String) throws(StoreOpeningError) {
        let failure: Int32? = descriptor.withLock { file in
            guard Self.write(word, to: file), fsync(file) == 0 else { return errno }
            return nil
        }
        if let failure {
            throw failure == ENOSPC || failure == EDQUOT ? .diskFull(path: path) : .unwritable(path: path)
        }
    }

    /// Not synced: if the write is lost, the next start only runs an unnecessary check.
    func noteClean() { note("clean") }

    /// Makes the next start check the whole database before use.
    func noteSuspect() { note("suspect") }

    private func note(_ word: String) {
        descriptor.withLock { file in
            if file >= 0 { _ = Self.write(word, to: file) }
        }
    }

    func release() {
        descriptor.withLock { file in
            guard file >= 0 else { return }
            // A process that is just being spawned has a copy of the descriptor, which alone would keep the lock.
            flock(file, LOCK_UN)
            close(file)
            file = -1
        }
    }

    private static let wordForOpen = "open"

    private static func read(_ file: Int32) -> String {
        var buffer = [UInt8](repeating: 0, count: 16)
        let count = pread(file, &buffer, buffer.count, 0)
        return String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self).split(separator: "\n").first.map(
            String.init)
            ?? ""
    }

    private static func ending(_ word: String) -> Ending {
        switch word {
        case "", "new": .none
        case "clean": .clean
        case "suspect": .suspect
        default: .unclean
        }
    }

    private static func write(_ word: String, to file: Int32) -> Bool {
        let bytes = Array((word + "\n").utf8)
        return pwrite(file, bytes, bytes.count, 0) == bytes.count && ftruncate(file, off_t(bytes.count)) == 0
    }
}
