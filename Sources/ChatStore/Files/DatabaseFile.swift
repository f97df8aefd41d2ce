import Glibc

/// A database file of a store.
struct DatabaseFile: Sendable {
    let path: String
    let schema: Schema

    /// SQLite's write-ahead log.
    var log: String { path + "-wal" }
    /// The companion files: the write-ahead log and its shared-memory index.
    var companions: [String] { [log, path + "-shm"] }

    var size: Int64 { FileSystem.size(of: path) ?? 0 }
    var exists: Bool { FileSystem.exists(path) }
    var logSize: Int64 { FileSystem.size(of: log) ?? 0 }

    /// Whether not even the first page was committed.
    var isUnbegun: Bool { size <= 1 && logSize == 0 || FileSystem.exists(path + "-journal") }

    /// The schema version in the file's header, which may be older than in the log; 0 without a header.
    var versionInHeader: Int { DatabaseHeader(of: path)?.userVersion ?? 0 }

    /// Creates an empty file if there is none, so that SQLite creates its companion files with the same restrictive
    /// mode.
    /// - Returns: Whether the file was created.
    func create() throws(StoreOpeningError) -> Bool {
        guard exists || logSize == 0 else {
            // SQLite would delete the log.
            throw .damaged(path: path, reason: "the database is missing, but not its write-ahead log")
        }
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            Glibc.close(descriptor)
            return true
        }
        switch errno {
        case EEXIST: break
        case ENOSPC, EDQUOT: throw .diskFull(path: path)
        default: throw .unwritable(path: path)
        }
        guard !FileSystem.isDirectory(path) else {
            throw .damaged(path: path, reason: "a folder has the name of the database")
        }
        for file in [path] + companions { FileSystem.narrow(file, to: 0o600) }
        guard access(path, R_OK | W_OK) == 0 else { throw .unwritable(path: path) }
        return false
    }
}
