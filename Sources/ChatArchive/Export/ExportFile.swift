import ChatCore
import Foundation
import Glibc

/// A buffered writer to a new text file.
final class ExportFile {
    private static let buffered = 1 << 18
    private let descriptor: Int32
    private let path: String
    private var waiting: [UInt8] = []

    /// - Throws: ``ArchiveError``.
    init(_ url: URL) throws {
        path = url.path
        descriptor = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(path) }
    }

    deinit { close(descriptor) }

    func write(_ text: String) throws {
        waiting.append(contentsOf: text.utf8)
        if waiting.count >= Self.buffered { try flush() }
    }

    /// Writes the buffer and syncs the file to disk.
    func finish() throws {
        try flush()
        guard fsync(descriptor) == 0 else { throw Self.failure(path) }
    }

    private func flush() throws {
        var rest = waiting[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard written >= 0 || errno == EINTR else { throw Self.failure(path) }
            rest = rest.dropFirst(max(0, written))
        }
        waiting.removeAll(keepingCapacity: true)
    }

    /// Syncs a file that was copied to the disk.
    /// - Throws: ``ArchiveError``.
    static func sync(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure(path) }
    }

    /// Syncs a folder, so that what was created or renamed in it is durable. Not all file systems can do that.
    static func syncFolder(_ path: String) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    static func failure(_ path: String) -> ArchiveError {
        errno == ENOSPC || errno == EDQUOT ? .diskFull : .unwritable(path: path)
    }
}
