import Glibc

/// One of a store's databases on the disk.
struct DatabaseFile: Sendable {
    let path: String
    let schema: Schema

    /// SQLite's write-ahead log.
    var log: String { path + "-wal" }
    /// What belongs to the database: the log and the index of it.
    var companions: [String] { [log, path + "-shm"] }

    var size: Int64 { FileSystem.size(of: path) ?? 0 }
    var exists: Bool { FileSystem.exists(path) }
    var logSize: Int64 { FileSystem.size(of: log) ?? 0 }

    /// Whether nothing of it was ever committed, not even its first page.
    var isUnbegun: Bool { size <= 1 && logSize == 0 || FileSystem.exists(path + "-journal") }

    /// The version of the schema as the file's first page has it, which may be older than the log's; 0 without one.
    var versionInHeader: Int { DatabaseHeader(of: path)?.userVersion ?? 0 }

    /// Creates an empty file if there is none, so that SQLite gives its companions the same narrow rights.
    /// - Returns: whether there was none.
    func create() throws(StoreOpeningError) -> Bool {
        guard exists || logSize == 0 else {
            // SQLite would delete a log without a database.
            throw .damaged(path: path, reason: "the database is missing beside its log")
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
            throw .damaged(path: path, reason: "a folder is in the place of the database")
        }
        for file in [path] + companions { FileSystem.narrow(file, to: 0o600) }
        guard access(path, R_OK | W_OK) == 0 else { throw .unwritable(path: path) }
        return false
    }
}
