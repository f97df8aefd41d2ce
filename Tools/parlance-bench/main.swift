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
// `store [FOLDER]` measures the store alone, with its databases in FOLDER.
if arguments.first == "store" {
    let folder = URL(fileURLWithPath: arguments.count > 1 ? arguments[1] : ".build/bench", isDirectory: true)
    do {
        exit(BenchmarkRow.report(try await StoreBenchmarks(folder: folder).rows()) ? 0 : 1)
    } catch {
        FileHandle.standardError.write(Data("\(error)\n".utf8))
        exit(2)
    }
}
// `import [MESSAGES]` measures importing another application's export.
if arguments.first == "import" {
    let folder = FileManager.default.temporaryDirectory.appending(path: "parlance-bench-import-\(getpid())")
    let count = arguments.count > 1 ? Int(arguments[1]) ?? 0 : 1_000_000
    do {
        exit(BenchmarkRow.report(try await ImportBenchmark(folder: folder, messages: max(1000, count)).rows()) ? 0 : 1)
    } catch {
        FileHandle.standardError.write(Data("\(error)\n".utf8))
        exit(2)
    }
}
// `pictures [FOLDER]` measures image decoding by the `parlance-decode` next to this executable.
if arguments.first == "pictures" {
    let folder = URL(fileURLWithPath: arguments.count > 1 ? arguments[1] : ".build/bench-pictures", isDirectory: true)
    do {
        exit(BenchmarkRow.report(try ImageBenchmarks(folder: folder).rows()) ? 0 : 1)
    } catch {
        FileHandle.standardError.write(Data("\(error)\n".utf8))
        exit(2)
    }
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
                "parlance-bench [composer|completion|json|markup|pictures [FOLDER]|store [FOLDER]|import [MESSAGES]]\n"
                    .utf8))
        exit(2)
    }
    exit(BenchmarkRow.report(rows) ? 0 : 1)
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(2)
}
