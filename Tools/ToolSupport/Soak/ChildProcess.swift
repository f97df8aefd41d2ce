package import Glibc

/// A process with line-based input and output.
package struct ChildProcess {
    package let pid: pid_t
    /// The signal that ended the process, or 0 if it exited normally or is still running.
    package private(set) var lastSignal: Int32 = 0
    private let input: Int32
    private let output: Int32
    private var buffer: [UInt8] = []

    /// Starts another instance of this program.
    package init(arguments: [String]) throws {
        try self.init("/proc/self/exe", CommandLine.arguments.prefix(1) + arguments)
    }

    /// - Parameters:
    ///   - program: a path, or a name to find in `PATH`.
    ///   - words: the arguments, starting with the program's name.
    ///   - errors: a descriptor for its standard error, which is inherited by default.
    package init(_ program: String, _ words: [String], errors: Int32 = STDERR_FILENO) throws {
        let down = try Self.makePipe()
        let up = try Self.makePipe()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, down.read, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, up.write, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
        var words: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        words.append(nil)
        defer { for word in words { free(word) } }
        var pid: pid_t = 0
        let result = posix_spawnp(&pid, program, &actions, nil, &words, environ)
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

    /// Writes a line to the child's input; ignored if the child has ended.
    package func send(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = write(input, bytes, bytes.count)
    }

    /// Returns the next line, or `nil` at the end of the output. An unterminated last line is dropped.
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

    /// Kills the process and reads its remaining output.
    /// - Returns: the lines not read before, and whether it was SIGKILL, rather than a failure of its own, that ended
    ///   it.
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
