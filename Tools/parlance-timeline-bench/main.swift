import CGtk
import Foundation
import GtkKit
import ToolSupport

// `workload NAME …` runs a single workload, for callgrind to count its instructions.
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
// `still`, `speed`, `mixed`, `idle`, `memory`, `instructions`: only those sections.
let sections = arguments.compactMap(TimelineBenchmarks.Section.init)
guard sections.count == arguments.count else {
    let sectionNames = TimelineBenchmarks.Section.allCases.map(\.rawValue).joined(separator: "|")
    FileHandle.standardError.write(Data("parlance-timeline-bench [\(sectionNames)] ...\n".utf8))
    exit(2)
}
do {
    exit(try TimelineBenchmarks.report(sections.isEmpty ? TimelineBenchmarks.Section.allCases : sections) ? 0 : 1)
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(2)
}
