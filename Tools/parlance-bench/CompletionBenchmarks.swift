import Composer
import Foundation
import ToolSupport

/// The cost of completion in large rooms: a key press must not cost more because the room is larger.
enum CompletionBenchmarks {
    private static let limit = 50
    private static let sizes = [1_000, 100_000]

    static func rows() throws -> [BenchmarkRow] {
        try timeRows() + costRows()
    }

    // MARK: Time and memory

    private static func timeRows() throws -> [BenchmarkRow] {
        let names = SeededNames.names(100_000)
        let entities = entities(names)
        let clock = ContinuousClock()
        var index = CompletionIndex([])
        let building = clock.measure { index = CompletionIndex(entities, disambiguatesNames: true) }
        // Measure a second index: temporary memory from building the first one is already resident.
        let before = Memory.resident
        let another = CompletionIndex(entities, disambiguatesNames: true)
        let bytes = Double(Memory.resident - before) / Double(names.count)
        withExtendedLifetime(another) {}
        let times = SeededNames.queries(2_000, minimum: 1).map { query in
            clock.measure { _ = index.matches(of: query, limit: limit) } / .microseconds(1)
        }.sorted()
        return [
            BenchmarkRow(
                name: "completion: index of 100,000 members", value: building / .milliseconds(1), unit: "ms",
                target: 2_000),
            BenchmarkRow(name: "completion: memory of the index", value: bytes, unit: "bytes a member", target: 400),
            BenchmarkRow(
                name: "completion: key press in 100,000 members, median", value: times[times.count / 2], unit: "µs",
                target: 500),
            BenchmarkRow(
                name: "completion: key press in 100,000 members, 99th percentile",
                value: times[times.count * 99 / 100], unit: "µs", target: 2_000),
        ]
    }

    // MARK: Instructions

    private static func costRows() throws -> [BenchmarkRow] {
        var all: [Int: Double] = [:]
        var long: [Int: Double] = [:]
        for size in sizes {
            all[size] = try Callgrind.instructions(per: "complete", [String(size), "1"], few: 10, many: 210)
            long[size] = try Callgrind.instructions(per: "complete", [String(size), "3"], few: 10, many: 210)
        }
        let filter = try Callgrind.instructions(per: "filter", ["100000"], few: 1, many: 3)
        return [
            BenchmarkRow(
                name: "completion: key press in 100,000 members", value: all[100_000]!.rounded(), unit: "instructions",
                target: 2_000_000),
            BenchmarkRow(
                name: "completion: key press to a plain filter of 100,000", value: all[100_000]! / filter,
                unit: "ratio", target: 0.02),
            BenchmarkRow(
                name: "completion: 3 letters and more, 100,000 to 1,000 members", value: long[100_000]! / long[1_000]!,
                unit: "ratio", target: 3),
        ]
    }

    /// Runs a workload by name, for ``Callgrind``.
    ///
    /// - Returns: `false` if there is no such workload.
    static func run(_ arguments: [String]) -> Bool {
        let numbers = arguments.dropFirst().compactMap { Int($0) }
        switch (arguments.first, numbers.count) {
        case ("complete", 3): complete(numbers[2], among: numbers[0], minimum: numbers[1])
        case ("filter", 2): filter(numbers[1], among: numbers[0])
        default: return false
        }
        return true
    }

    private static func entities(_ names: [String]) -> [CompletionEntity] {
        names.enumerated().map { CompletionEntity(id: "@user\($0.offset):example.org", name: $0.element) }
    }

    private static func complete(_ count: Int, among size: Int, minimum: Int) {
        let index = CompletionIndex(entities(SeededNames.names(size)), disambiguatesNames: true)
        for query in SeededNames.queries(count, minimum: minimum) {
            guard index.matches(of: query, limit: limit).count <= limit else { return }
        }
    }

    /// The baseline: filters a list without an index, as on each key press.
    private static func filter(_ count: Int, among size: Int) {
        let names = SeededNames.names(size)
        for query in SeededNames.queries(count, minimum: 1) {
            guard names.filter({ $0.localizedStandardContains(query) }).count <= size else { return }
        }
    }
}

/// The memory use of this process.
enum Memory {
    static var resident: Int {
        // Linux always has this file.
        let pages = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")[1]
        return pages.flatMap { Int($0) }.map { $0 * Int(getpagesize()) } ?? 0
    }
}
