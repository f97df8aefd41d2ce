import Foundation
import Glibc

// A pipe whose reader is gone ends a write with an error, not the process.
signal(SIGPIPE, SIG_IGN)

do {
    let isFine = try await SoakCommand(arguments: Array(CommandLine.arguments.dropFirst())).run()
    exit(isFine ? 0 : 1)
} catch {
    FileHandle.standardError.write(Data("parlance-store-soak: \(error)\n".utf8))
    exit(1)
}
