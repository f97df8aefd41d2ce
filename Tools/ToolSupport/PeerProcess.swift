import Dispatch
import Glibc

/// Another implementation as a process that answers each line it reads with a line. One question at a time.
package final class PeerProcess: @unchecked Sendable {
    package struct Ended: Error, CustomStringConvertible {
        package let description: String
    }

    private var process: ChildProcess
    /// A file without a name for its standard error.
    private let errors: UnsafeMutablePointer<FILE>
    private let queue = DispatchQueue(label: "PeerProcess")

    /// - Parameter command: a program, and its arguments.
    package init(_ command: [String]) throws {
        // A peer that has ended makes a question fail; without this it would end the tests without a word.
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

    /// As `blockingAnswer(to:)`, without holding a thread that runs Swift's tasks.
    package func answer(to question: String) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(with: Result { try self.blockingAnswer(to: question) })
            }
        }
    }

    /// In one line: the summary of the tests shows no more of an error.
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
