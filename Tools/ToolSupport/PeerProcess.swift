import Dispatch
import Glibc

/// Another implementation in a process that responds to each input line with one output line. One request at a time.
package final class PeerProcess: @unchecked Sendable {
    package struct Ended: Error, CustomStringConvertible {
        package let description: String
    }

    private var process: ChildProcess
    /// An unnamed temporary file for its standard error.
    private let errors: UnsafeMutablePointer<FILE>
    private let queue = DispatchQueue(label: "PeerProcess")

    /// - Parameter command: the program and its arguments.
    package init(_ command: [String]) throws {
        // Without this, a request to a peer that has exited would kill the tests silently instead of failing.
        signal(SIGPIPE, SIG_IGN)
        guard let errors = tmpfile() else { throw SoakFailure("no file for a peer's errors: \(errno)") }
        self.errors = errors
        process = try ChildProcess(command.first ?? "", command, errors: fileno(errors))
    }

    deinit {
        _ = process.killAndDrain()
        fclose(errors)
    }

    package func blockingAnswer(to question: String) throws -> String {
        process.send(question)
        guard let line = process.nextLine() else { throw Ended(description: "the peer has ended: \(lastErrors())") }
        return line
    }

    /// Like `blockingAnswer(to:)`, without blocking a thread of Swift's concurrency pool.
    package func answer(to question: String) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(with: Result { try self.blockingAnswer(to: question) })
            }
        }
    }

    /// In one line, because the test summary shows only one line of an error.
    private func lastErrors() -> String {
        rewind(errors)
        var lines: [String] = []
        var buffer = [CChar](repeating: 0, count: 4096)
        while fgets(&buffer, Int32(buffer.count), errors) != nil {
            let bytes = buffer.prefix { $0 != 0 && $0 != 0x0A }.map { UInt8(bitPattern: $0) }
            lines.append(String(decoding: bytes, as: UTF8.self))
        }
        return lines.suffix(3).joined(separator: " | ")
    }
}
