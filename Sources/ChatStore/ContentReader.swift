import ChatCore
import Foundation
import Glibc

/// Reads a content in pieces.
struct ContentReader: ~Copyable {
    /// How many bytes there are, as far as that is known beforehand.
    let expected: Int
    private let limit: Int
    private let descriptor: Int32
    private let data: Data
    private var count = 0

    /// - Throws: ``ChatError/unreadableFile`` or ``ChatError/fileTooLarge(limit:)``.
    init(_ content: MediaContent, limit: Int) throws(ChatError) {
        // All at once: what has a deinit is not left half made.
        (descriptor, data, expected) = try Self.open(content, limit)
        self.limit = limit
    }

    private static func open(_ content: MediaContent, _ limit: Int) throws(ChatError) -> (Int32, Data, Int) {
        switch content {
        case .data(let data):
            guard data.count <= limit else { throw .fileTooLarge(limit: limit) }
            return (-1, data, data.count)
        case .file(let url):
            // Not to hang on a pipe that nobody writes to.
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

    /// The next piece of at most `size` bytes; nil at the end.
    ///
    /// A file may have grown since it was opened: the limit holds for what is read.
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
