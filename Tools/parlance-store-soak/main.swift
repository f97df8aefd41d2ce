import Foundation
import Glibc

// Writing to a closed pipe must fail with an error instead of `SIGPIPE`.
signal(SIGPIPE, SIG_IGN)

do {
    let isFine = try await SoakCommand(arguments: Array(CommandLine.arguments.dropFirst())).run()
    exit(isFine ? 0 : 1)
} catch {
    FileHandle.standardError.write(Data("parlance-store-soak: \(error)\n".utf8))
    exit(1)
}
