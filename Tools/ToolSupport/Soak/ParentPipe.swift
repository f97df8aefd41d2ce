import Glibc

/// Output from a child to the process that started it.
package enum ParentPipe {
    /// Writes the line unbuffered, with a single `write`, so that a kill cannot lose it afterwards.
    package static func send(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        if write(STDOUT_FILENO, bytes, bytes.count) != bytes.count { exit(0) }
    }
}
