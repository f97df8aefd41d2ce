import Foundation
import Glibc
import SoakSupport

// A connection whose other end is gone ends a write with an error, not the process.
signal(SIGPIPE, SIG_IGN)

let usage = """
    Usage: parlance-matrix-soak requests [--count N]

    requests  sends N requests (10000) by one transport and tells what memory and open files are left

    Exit status 1 if files are left open.
    """

do {
    let words = Array(CommandLine.arguments.dropFirst())
    guard words.first == "requests" else {
        print(usage)
        exit(words.first == "--help" ? 0 : 1)
    }
    var count = 10_000
    if words.count > 1 {
        guard words.count == 3, words[1] == "--count", let number = Int(words[2]), number > 0 else {
            throw SoakFailure("not understood\n\(usage)")
        }
        count = number
    }
    exit(try await RequestRun(count: count).run() ? 0 : 1)
} catch {
    FileHandle.standardError.write(Data("parlance-matrix-soak: \(error)\n".utf8))
    exit(1)
}
