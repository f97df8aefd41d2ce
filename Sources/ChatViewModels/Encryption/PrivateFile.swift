import Foundation
import Glibc

/// A file that the user alone may read.
nonisolated enum PrivateFile {
    /// Replaces the file's content, after removing the permissions that others have on an existing file.
    @concurrent
    static func write(_ text: String, to file: URL) async throws(Failure) {
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure() }
        defer { close(descriptor) }
        guard fchmod(descriptor, 0o600) == 0 else { throw Failure() }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { throw Failure() }
            rest = rest.dropFirst(max(0, count))
        }
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw Failure() }
    }

    struct Failure: Error {}
}
