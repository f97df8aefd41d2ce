import Glibc

/// What Foundation does not say of files, or says slowly.
enum FileSystem {
    /// In bytes; nil if there is no such file.
    static func size(of path: String) -> Int64? {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : nil
    }

    /// Whether there is anything under that name, be it a link to nowhere.
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Takes away rights beyond `mode`. Best effort: someone else's file is reported when it is opened.
    static func narrow(_ path: String, to mode: mode_t) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & 0o777 & ~mode != 0 || status.st_mode & mode != mode else {
            return
        }
        chmod(path, mode)
    }

    /// Makes a new or changed name in the folder survive a loss of power.
    static func syncFolder(_ path: String) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        Glibc.close(descriptor)
    }
}
