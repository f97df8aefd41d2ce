import ChatCore
import Foundation
import Glibc

/// A file descriptor that is closed on deinitialization.
final class OpenFile {
    private let file: Int32
    /// The file's size in bytes when it was opened.
    let count: Int

    /// - Throws: ``ChatCore/ChatError/unreadableFile``.
    init(reading url: URL) throws(ChatError) {
        file = open(url.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        var status = stat()
        guard file >= 0, fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            if file >= 0 { close(file) }
            throw .unreadableFile
        }
        count = Int(status.st_size)
    }

    /// Creates or truncates a file with mode 0600.
    /// - Throws: ``ChatCore/ChatError/diskFull``, ``ChatCore/ChatError/storage(reason:)``.
    init(making url: URL) throws(ChatError) {
        file = open(url.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        count = 0
        guard file >= 0 else { throw Self.error(errno) }
    }

    deinit { Glibc.close(file) }

    func write(_ bytes: UnsafeRawBufferPointer) throws(ChatError) {
        var rest = bytes
        while !rest.isEmpty {
            let written = Glibc.write(file, rest.baseAddress, rest.count)
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw Self.error(errno) }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
        }
    }

    /// - Returns: The number of bytes read, 0 at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(ChatError) -> Int {
        while true {
            let count = Glibc.read(file, buffer.baseAddress, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .unreadableFile }
            return count
        }
    }

    func seek(to offset: Int) -> Bool { lseek(file, offset, SEEK_SET) == offset }

    private static func error(_ number: Int32) -> ChatError {
        number == ENOSPC || number == EDQUOT ? .diskFull : .storage(reason: "error \(number) of a file")
    }
}
