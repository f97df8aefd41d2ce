import Foundation
import ToolSupport

// `workload NAME …` runs a single workload, for callgrind to count its instructions.
let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == "workload" {
    let workload = Array(arguments.dropFirst())
    let isKnown = [
        ComposerBenchmarks.run, CompletionBenchmarks.run, JSONBenchmarks.run, MarkupBenchmarks.run,
    ].contains { $0(workload) }
    exit(isKnown ? 0 : 2)
}
/// Ends the program, with 1 if a row misses its target, and with 2 if something cannot be measured.
func measure(_ rows: () async throws -> [BenchmarkRow]) async -> Never {
    do {
        exit(BenchmarkRow.report(try await rows()) ? 0 : 1)
    } catch {
        FileHandle.standardError.write(Data("\(error)\n".utf8))
        exit(2)
    }
}
/// The folder named after the part.
func folder(or other: String) -> URL {
    URL(fileURLWithPath: arguments.count > 1 ? arguments[1] : other, isDirectory: true)
}

switch arguments.first {
// `store [FOLDER]` measures the store alone, with its databases in FOLDER.
case "store": await measure { try await StoreBenchmarks(folder: folder(or: ".build/bench")).rows() }
// `rooms [FOLDER]` makes the databases for build-aux/bench-rooms in FOLDER.
case "rooms":
    await measure {
        for (rooms, messages) in [(2, 100), (61, 10_000), (2000, 1_000_000)] {
            try await StoreDataset(count: messages, rooms: rooms, in: folder(or: ".build/bench")).make()
        }
        return []
    }
// `import [MESSAGES]` measures importing another application's export.
case "import":
    let folder = FileManager.default.temporaryDirectory.appending(path: "parlance-bench-import-\(getpid())")
    let count = arguments.count > 1 ? Int(arguments[1]) ?? 0 : 1_000_000
    await measure { try await ImportBenchmark(folder: folder, messages: max(1000, count)).rows() }
// `pictures [FOLDER]` measures image decoding by the `parlance-decode` next to this executable.
case "pictures": await measure { try ImageBenchmarks(folder: folder(or: ".build/bench-pictures")).rows() }
default: break
}
do {
    // `composer`, `completion`, `json`, or `markup` runs only that part.
    let rows: [BenchmarkRow]
    switch arguments.first {
    case "composer": rows = try ComposerBenchmarks.rows()
    case "completion": rows = try CompletionBenchmarks.rows() + [MainThreadBenchmark.row()]
    case "json": rows = try JSONBenchmarks.rows()
    case "markup": rows = MarkupBenchmarks.rows(isLong: true)
    case nil:
        rows =
            try CompletionBenchmarks.rows() + [MainThreadBenchmark.row()] + ComposerBenchmarks.rows()
            + JSONBenchmarks.rows() + MarkupBenchmarks.rows()
    default:
        FileHandle.standardError.write(
            Data(
                "parlance-bench [composer|completion|json|markup|pictures [FOLDER]|store [FOLDER]|rooms [FOLDER]|import [MESSAGES]]\n"
                    .utf8))
        exit(2)
    }
    exit(BenchmarkRow.report(rows) ? 0 : 1)
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(2)
}
