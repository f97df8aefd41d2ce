import ChatCore
import Foundation
import Glibc

/// Reads content in chunks.
struct ContentReader: ~Copyable {
    /// The expected number of bytes: a file may change while it is read.
    let expected: Int
    private let limit: Int
    private let descriptor: Int32
    private let data: Data
    private var count = 0

    /// Opens the content.
    /// - Throws: ``ChatError/unreadableFile`` or ``ChatError/fileTooLarge(limit:)``.
    init(_ content: MediaContent, limit: Int) throws(ChatError) {
        // A single assignment: a type with a `deinit` must not be left partially initialized.
        (descriptor, data, expected) = try Self.open(content, limit)
        self.limit = limit
    }

    private static func open(_ content: MediaContent, _ limit: Int) throws(ChatError) -> (Int32, Data, Int) {
        switch content {
        case .data(let data):
            guard data.count <= limit else { throw .fileTooLarge(limit: limit) }
            return (-1, data, data.count)
        case .file(let url):
            // `O_NONBLOCK`: opening a pipe without a writer would block.
            let descriptor = Glibc.open(url.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else { throw .unreadableFile }
            var status = stat()
            guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                close(descriptor)
                throw .unreadableFile
            }
            guard Int(status.st_size) <= limit else {
                close(descriptor)
                throw .fileTooLarge(limit: limit)
            }
            return (descriptor, Data(), Int(status.st_size))
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Returns the next chunk of at most `size` bytes, or `nil` at the end.
    ///
    /// The limit is checked again, since a file may grow after it was opened.
    mutating func next(_ size: Int) throws(ChatError) -> Data? {
        let chunk = descriptor >= 0 ? try readFile(size) : data.subdata(in: count..<min(count + size, data.count))
        guard !chunk.isEmpty else { return nil }
        count += chunk.count
        if count > limit { throw .fileTooLarge(limit: limit) }
        return chunk
    }

    private func readFile(_ size: Int) throws(ChatError) -> Data {
        var buffer = Data(count: size)
        while true {
            let got = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, size) }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw .unreadableFile }
            return buffer.prefix(got)
        }
    }
}
