import ChatCore
import ChatViewModels
import Composer
import ComposerSessions
import Foundation
import ToolSupport

/// How long completion in a large room blocks the main thread: the part of a key press that runs there, the rest
/// running on other threads.
enum MainThreadBenchmark {
    static func row() -> BenchmarkRow {
        let worst = MainActor.assumeIsolated { (0..<20).map { _ in busyTime() }.max() ?? 0 }
        return BenchmarkRow(
            name: "completion: main thread busy, 100,000 new members and a key press, worst", value: worst, unit: "ms",
            target: 4)
    }

    /// Main-thread milliseconds for publishing new members, querying, and applying the rows.
    @MainActor private static func busyTime() -> Double {
        let members = SeededNames.names(100_000).enumerated().map {
            Member(id: MemberID("@user\($0.offset):example.org"), displayName: $0.element, kind: .person)
        }
        let source = DirectorySource(prefix: "@", directory: CompletionDirectory()) { directory in
            directory.set { MemberDirectory.index(of: members, everyone: "Everyone") }
        }
        let rows = (0..<50).map { CompletionEntity(id: "@user\($0):example.org", name: "Ann \($0)") }
        var engine = ComposerEngine()
        let start = threadTime()
        for case .completion(.query(let query)) in engine.handle(.insert("@", origin: .typed), at: .zero) {
            _ = source.batches(for: query)
            _ = engine.handle(.completionResults(query: query.id, rows, isFinal: true), at: .zero)
        }
        let end = threadTime()
        return engine.completion?.items.count == rows.count ? end - start : .infinity
    }

    private static func threadTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1_000_000
    }
}
