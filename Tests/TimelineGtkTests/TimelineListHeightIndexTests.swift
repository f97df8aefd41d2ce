import Testing
import ToolSupport

@testable import TimelineGtk

/// Compares the height index with a plain array.
@Suite struct TimelineListHeightIndexTests {
    /// The naive reference implementation.
    private struct Oracle {
        var heights: [Int?] = []
        var estimate = 0.0

        func offset(of row: Int) -> Double {
            heights[..<row].reduce(0) { $0 + ($1.map(Double.init) ?? estimate) }
        }

        func row(at offset: Double) -> Int? {
            var bottom = 0.0
            for (row, height) in heights.enumerated() {
                bottom += height.map(Double.init) ?? estimate
                if bottom > offset { return row }
            }
            return heights.isEmpty ? nil : heights.count - 1
        }
    }

    @Test func matchesAnArrayUnderRandomChanges() throws {
        for seed in UInt64(1)...6 {
            var random = SeededGenerator(seed: seed)
            var (index, oracle) = (HeightIndex(), Oracle())
            for _ in 0..<700 {
                change(&index, &oracle, &random)
                oracle.estimate = index.estimate
                try #require(index.rows == oracle.heights.count)
                try #require(index.measuredRows == oracle.heights.count { $0 != nil })
                try #require(abs(index.total - oracle.offset(of: oracle.heights.count)) < 0.001)
                guard index.rows > 0 else { continue }
                let row = Int.random(in: 0..<index.rows, using: &random)
                try #require(index.height(of: row) == oracle.heights[row])
                try #require(abs(index.offset(of: row) - oracle.offset(of: row)) < 0.001)
                // A fractional offset between pixels: rounding errors cannot change the result.
                let offset = Double(Int.random(in: -2...Int(index.total) + 2, using: &random)) + 0.437
                try #require(index.row(at: offset) == oracle.row(at: offset))
            }
        }
    }

    private func change(_ index: inout HeightIndex, _ oracle: inout Oracle, _ random: inout SeededGenerator) {
        let rows = oracle.heights.count
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1:
            let (row, count) = (Int.random(in: 0...rows, using: &random), Int.random(in: 0...60, using: &random))
            index.insert(count, at: row)
            oracle.heights.insert(contentsOf: Array(repeating: nil, count: count), at: row)
        case 2 where rows > 0:
            let first = Int.random(in: 0..<rows, using: &random)
            let last = min(rows, first + Int.random(in: 0...50, using: &random))
            index.remove(first..<last)
            oracle.heights.removeSubrange(first..<last)
        case 3 where rows > 0:
            // Measure a run of rows in either direction, as scrolling does.
            let first = Int.random(in: 0..<rows, using: &random)
            let chunk = Array(first..<min(rows, first + 40))
            for row in Bool.random(using: &random) ? chunk : chunk.reversed() {
                measure(row, &index, &oracle, &random)
            }
        case 4 where Int.random(in: 0..<20, using: &random) == 0:
            index.reset(rows: rows)
            oracle.heights = Array(repeating: nil, count: rows)
        default:
            if rows > 0 { measure(Int.random(in: 0..<rows, using: &random), &index, &oracle, &random) }
        }
    }

    private func measure(
        _ row: Int, _ index: inout HeightIndex, _ oracle: inout Oracle, _ random: inout SeededGenerator
    ) {
        let heights = [0, 1, 17, 40, 300, 65_534, 65_535, 65_536, 200_000]
        let height = heights.randomElement(using: &random) ?? 0
        index.measure(row, height: height)
        oracle.heights[row] = height
    }

    @Test func measuredRangesAreMerged() {
        var index = HeightIndex()
        index.insert(100_000, at: 0)
        for row in 40_000..<50_000 { index.measure(row, height: row % 50) }
        for row in (30_000..<40_000).reversed() { index.measure(row, height: row % 50) }
        #expect(index.measuredRows == 20_000)
        #expect(index.runs <= 20_000 / 512 + 3)
    }

    @Test func memoryIsBoundedForScatteredMeasurements() {
        var index = HeightIndex()
        index.insert(1_000_000, at: 0)
        for row in stride(from: 0, to: 1_000_000, by: 100) { index.measure(row, height: 30) }
        #expect(index.runs <= HeightIndex.runLimit)
        #expect(index.measuredRows > 1000)
        #expect(index.height(of: 999_900) == 30, "what was measured last is not what is forgotten")
        #expect(index.total == 30_000_000)
    }

    @Test func frozenEstimateStaysWhileRowsAreMeasured() {
        var index = HeightIndex()
        index.insert(1000, at: 0)
        index.measure(0, height: 20)
        index.isEstimateFrozen = true
        index.measure(1, height: 100)
        #expect(index.estimate == 20)
        #expect(index.total == 20 + 100 + 998 * 20)
        index.isEstimateFrozen = false
        #expect(index.estimate == 60)
    }

    @Test func resetKeepsTheEstimate() {
        var index = HeightIndex()
        #expect(index.estimate == HeightIndex.initialEstimate)
        index.insert(10, at: 0)
        index.measure(3, height: 70)
        index.reset(rows: 5)
        #expect(index.total == 350)
    }
}
