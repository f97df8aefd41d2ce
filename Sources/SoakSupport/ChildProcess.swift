package import Glibc

/// This program run once more, its output read line by line, and told things line by line.
package struct ChildProcess {
    package let pid: pid_t
    /// What ended it; 0 if it ended by itself without, or has not ended.
    package private(set) var lastSignal: Int32 = 0
    private let input: Int32
    private let output: Int32
    private var buffer: [UInt8] = []

    package init(arguments: [String]) throws {
        let down = try Self.makePipe()
        let up = try Self.makePipe()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, down.read, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, up.write, STDOUT_FILENO)
        var words: [UnsafeMutablePointer<CChar>?] = (CommandLine.arguments.prefix(1) + arguments).map { strdup($0) }
        words.append(nil)
        defer { for word in words { free(word) } }
        var pid: pid_t = 0
        let result = posix_spawn(&pid, "/proc/self/exe", &actions, nil, &words, environ)
        close(down.read)
        close(up.write)
        guard result == 0 else {
            close(down.write)
            close(up.read)
            throw SoakFailure("cannot start a child: \(result)")
        }
        self.pid = pid
        input = down.write
        output = up.read
    }

    private static func makePipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw SoakFailure("no pipe: \(errno)") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// A child that has ended hears nothing.
    package func send(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = write(input, bytes, bytes.count)
    }

    /// The next whole line; nil at the end of the output. A last line without its end is not one.
    package mutating func nextLine() -> String? {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: buffer[..<end], as: UTF8.self)
                buffer.removeSubrange(...end)
                return line
            }
            var chunk = [UInt8](repeating: 0, count: 4096)
            let count = read(output, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            buffer += chunk.prefix(count)
        }
    }

    /// Ends it at once, and what it had said is read to the end.
    /// - Returns: the lines not read before, and whether the kill, not an error of its own, ended it.
    package mutating func killAndDrain() -> (lines: [String], wasKilled: Bool) {
        kill(pid, SIGKILL)
        var lines: [String] = []
        while let line = nextLine() { lines.append(line) }
        close(output)
        close(input)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        lastSignal = status & 0x7F
        return (lines, lastSignal == SIGKILL)
    }
}
