import ChatCore
import ChatStore
import Foundation
import ToolSupport

/// The cost of store operations with 10,000 messages and with a million.
struct StoreBenchmarks {
    let folder: URL

    /// An operation that is repeated on both sizes alternately.
    private struct Work {
        let name: String
        let repetitions: Int
        /// The maximum ratio of the cost with a million messages to the cost with ten thousand.
        var target: Double?
        let run: @Sendable (StoreDataset, ChatStore, inout SeededGenerator) async throws -> Void
    }

    func rows() async throws -> [BenchmarkRow] {
        let datasets = [10_000, 1_000_000].map { StoreDataset(count: $0, in: folder) }
        for dataset in datasets { try await dataset.make() }
        var rows = try await startRows(datasets)
        var stores: [ChatStore] = []
        for dataset in datasets { stores.append(try await ChatStore.open(in: dataset.store)) }
        for work in Self.works { rows += try await measure(work, datasets, stores) }
        for store in stores { await store.close() }
        for dataset in datasets {
            rows.append(
                BenchmarkRow(
                    name: "store: database, \(Self.name(dataset))",
                    value: Double(dataset.bytes) / Double(dataset.count),
                    unit: "bytes/message"))
        }
        return rows + (try await IngestBenchmark(folder: folder).rows())
    }

    private static func name(_ dataset: StoreDataset) -> String {
        dataset.count >= 1_000_000 ? "1 M" : "10 k"
    }

    private static let works: [Work] = [
        Work(name: "room switch (newest 50)", repetitions: 1000, target: 1.5) { _, store, random in
            let room = StoreDataset.rooms.randomElement(using: &random) ?? StoreDataset.rooms[0]
            try check(try await store.snapshot(of: room, limit: 50)?.page.messages.count == 50)
        },
        Work(name: "older page (20)", repetitions: 1000) { dataset, store, random in
            let room = StoreDataset.rooms.randomElement(using: &random) ?? StoreDataset.rooms[0]
            let position = Int64.random(in: 21...Int64(dataset.perRoom), using: &random)
            try check(try await store.messages(in: room, before: position, limit: 20).messages.count == 20)
        },
        Work(name: "search by word (50)", repetitions: 500) { _, store, random in
            let word = StoreDataset.word(using: &random)
            _ = try await store.search(SearchQuery(text: word))
        },
        Work(name: "search by two words (50)", repetitions: 500) { _, store, random in
            let words = [StoreDataset.word(using: &random), StoreDataset.word(using: &random)]
            _ = try await store.search(SearchQuery(text: words.joined(separator: " ")))
        },
        Work(name: "search by part of a word (50)", repetitions: 500) { _, store, random in
            let word = StoreDataset.words.randomElement(using: &random) ?? "solne"
            let substring = word.dropFirst(min(2, max(word.count - 5, 0))).prefix(5)
            _ = try await store.search(SearchQuery(text: String(substring), matching: .substring))
        },
        Work(name: "search by sender (50)", repetitions: 500) { _, store, random in
            let sender = StoreDataset.members.randomElement(using: &random)?.id
            _ = try await store.search(SearchQuery(sender: sender))
        },
    ]

    private static func check(_ condition: Bool) throws {
        if !condition { throw StoreFailure(description: "the store holds something else") }
    }

    private func startRows(_ datasets: [StoreDataset]) async throws -> [BenchmarkRow] {
        var times: [[Double]] = datasets.map { _ in [] }
        var random = SeededGenerator(seed: 3)
        for round in 0..<51 {
            for (number, dataset) in datasets.enumerated() {
                let start = ContinuousClock.now
                let store = try await ChatStore.open(in: dataset.store)
                let rooms = try await store.roomSummaries()
                let room = rooms.randomElement(using: &random)?.id ?? StoreDataset.rooms[0]
                _ = try await store.snapshot(of: room, limit: 50)
                // Skip the first round: its cache is cold.
                if round > 0 { times[number].append((ContinuousClock.now - start).milliseconds) }
                await store.close()
            }
        }
        return rows("start: open, room list, newest 50", datasets, times, target: nil)
    }

    private func measure(
        _ work: Work, _ datasets: [StoreDataset], _ stores: [ChatStore]
    ) async throws -> [BenchmarkRow] {
        var times: [[Double]] = datasets.map { _ in [] }
        var randoms = datasets.map { _ in SeededGenerator(seed: 11) }
        for round in 0..<work.repetitions + 20 {
            for number in datasets.indices {
                let start = ContinuousClock.now
                try await work.run(datasets[number], stores[number], &randoms[number])
                if round >= 20 { times[number].append((ContinuousClock.now - start).milliseconds) }
            }
        }
        return rows(work.name, datasets, times, target: work.target)
    }

    private func rows(
        _ name: String, _ datasets: [StoreDataset], _ times: [[Double]], target: Double?
    ) -> [BenchmarkRow] {
        var rows: [BenchmarkRow] = []
        var medians: [Double] = []
        for (dataset, times) in zip(datasets, times) {
            let sorted = times.sorted()
            medians.append(sorted[sorted.count / 2])
            for (label, index) in [("median", sorted.count / 2), ("p99", sorted.count * 99 / 100)] {
                rows.append(
                    BenchmarkRow(
                        name: "store: \(name), \(Self.name(dataset)), \(label)", value: sorted[index], unit: "ms"))
            }
        }
        rows.append(
            BenchmarkRow(
                name: "store: \(name), 1 M to 10 k", value: medians[1] / medians[0], unit: "ratio", target: target))
        return rows
    }
}

extension Duration {
    var milliseconds: Double { self / .milliseconds(1) }
}
