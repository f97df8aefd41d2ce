import Glibc

/// File operations that Foundation lacks or performs slowly.
enum FileSystem {
    /// Returns the size in bytes, or `nil` if there is no such file.
    static func size(of path: String) -> Int64? {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : nil
    }

    /// Whether there is a file of that name, dangling symbolic links included.
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Sets the mode. Best effort: failures surface when the file is opened.
    static func narrow(_ path: String, to mode: mode_t) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & 0o777 & ~mode != 0 || status.st_mode & mode != mode else {
            return
        }
        chmod(path, mode)
    }

    /// Returns the time at which the content was last changed, since 1970, or `nil` if there is no such file.
    static func modified(_ path: String) -> Duration? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Duration.seconds(status.st_mtim.tv_sec) + Duration.nanoseconds(status.st_mtim.tv_nsec)
    }

    /// Syncs the content of a file, for example of a copy whose original is removed next.
    static func syncFile(_ path: String) throws(StoreOpeningError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unwritable(path: path) }
        defer { Glibc.close(descriptor) }
        guard fsync(descriptor) == 0 else {
            throw errno == ENOSPC || errno == EDQUOT ? .diskFull(path: path) : .unwritable(path: path)
        }
    }

    /// Syncs a folder, to make a created or renamed file durable.
    static func syncFolder(_ path: String) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        Glibc.close(descriptor)
    }
}
