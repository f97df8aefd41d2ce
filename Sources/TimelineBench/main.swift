import BenchmarkReport
import CGtk
import Foundation
import GtkKit

// `workload NAME …` runs one piece of work and nothing else, to be counted by callgrind.
let arguments = Array(CommandLine.arguments.dropFirst())
guard gtk_init_check() != 0 else {
    FileHandle.standardError.write(Data("parlance-timeline-bench: no display\n".utf8))
    exit(2)
}
adw_init()
MainLoop.attachDispatchQueue()
if arguments.first == "workload" {
    exit(TimelineBenchmarks.run(Array(arguments.dropFirst())) ? 0 : 2)
}
// `mixed` measures messages of all kinds alone.
if arguments.first == "mixed" {
    exit(BenchmarkRow.report(MixedBenchmarks.rows()) ? 0 : 1)
}
do {
    exit(BenchmarkRow.report(try TimelineBenchmarks.rows()) ? 0 : 1)
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(2)
}
