import CGtk
import GtkKit
import GtkTestSupport
import ToolSupport
import XCTest

@testable import TimelineGtk

/// Applies 10,000 random changes and compares the list with a plain array of heights.
final class TimelineListOracleTests: GtkTestCase {
    func testInvariantsHoldAfterTenThousandRandomChanges() {
        onMain {
            let bench = TimelineListBench(TimelineListBench.heights(400))
            var random = SeededGenerator(seed: 20)
            for step in 0..<10_000 {
                Oracle.change(bench, &random, step)
                if step % 100 == 99 { bench.becomeIdle() }
                if let wrong = Oracle.fault(bench) { return XCTFail("after \(step + 1) changes: \(wrong)") }
            }
            bench.close()
        }
    }

    @MainActor
    private enum Oracle {
        /// Applies one change and checks that the scroll anchor, or the end, holds.
        static func change(_ bench: TimelineListBench, _ random: inout SeededGenerator, _ step: Int) {
            let source = bench.source
            let wasAtEnd = bench.list.isAtEnd
            let read = source.count > 0 && !bench.visibleKeys.isEmpty ? bench.readKey : nil
            let place = read.flatMap { bench.list.bounds(of: $0) }.map { $0.top + $0.height }
            let long = content(bench) > bench.height
            var moved = 0.0
            switch Int.random(in: 0..<12, using: &random) {
            case 0...2:
                let index = Int.random(in: 0...source.count, using: &random)
                source.insert(heights(&random), at: [0, index, source.count].randomElement(using: &random) ?? 0)
            case 3, 4:
                let index = Int.random(in: 0...source.count, using: &random)
                source.remove(at: index, count: min(source.count - index, Int.random(in: 0...9, using: &random)))
            case 5 where source.count > 0, 6 where source.count > 0:
                let near = Int.random(in: 0..<source.count, using: &random)
                source.resize(near, to: Int.random(in: 0...200, using: &random))
            case 7 where step % 50 == 0:
                let drop = Int.random(in: 2...9, using: &random)
                source.replace(source.keys.filter { $0 % drop != 0 })
            case 8 where step % 20 == 0: bench.list.scrollToEnd()
            case 9 where step % 20 == 0 && source.count > 0:
                bench.list.scroll(toIndex: Int.random(in: 0..<source.count, using: &random), at: .center)
            case 10, 11:
                moved = Double.random(in: -300...300, using: &random)
                let before = bench.adjustment.value
                bench.scroll(by: moved)
                moved = bench.adjustment.value - before
            default: break
            }
            let jumped = source.count > 400 && step % 20 == 0
            while source.count > 600 { source.remove(at: source.count / 2, count: 50) }
            bench.layOut()
            guard !jumped, step % 50 != 0, let read, let place, source.keys.contains(read) else { return }
            checkRead(bench, read, place - moved, wasAtEnd: wasAtEnd && moved == 0, long: long, step)
        }

        /// Checks that the anchor row has not moved, unless an end of the content forced it to.
        static func checkRead(
            _ bench: TimelineListBench, _ read: Int, _ expected: Double, wasAtEnd: Bool, long: Bool, _ step: Int
        ) {
            if wasAtEnd {
                XCTAssertTrue(bench.list.isAtEnd, "step \(step): the end stays in view")
                return
            }
            // At an end the list shifts its content rather than show empty space.
            guard long, bench.list.distanceFromEnd > 0, bench.list.distanceFromStart > 0,
                let now = bench.list.bounds(of: read)
            else { return }
            XCTAssertEqual(now.top + now.height, expected, accuracy: 0.001, "step \(step): the row being read")
        }

        static func heights(_ random: inout SeededGenerator) -> [Int] {
            (0..<Int.random(in: 1...8, using: &random)).map { _ in Int.random(in: 0...180, using: &random) }
        }

        static func content(_ bench: TimelineListBench) -> Double {
            Double(bench.source.keys.reduce(0) { $0 + (bench.source.heights[$1] ?? 0) })
        }

        /// Returns what is wrong with the layout (gaps, overlaps, heights, content or bounds), or `nil`.
        static func fault(_ bench: TimelineListBench) -> String? {
            let (list, source) = (bench.list, bench.source)
            guard list.count == source.count else { return "count" }
            let rows = list.layout.realized.rows.filter(\.isPositioned)
            for row in rows {
                guard row.index < source.count, (row.row as? TestRow)?.key == source.keys[row.index] else {
                    return "a row shows something else"
                }
                if row.height != source.heights[source.keys[row.index]] { return "a row's height" }
                if list.layout.index.height(of: row.index) != row.height { return "the index" }
            }
            for (row, next) in zip(rows, rows.dropFirst()) {
                if next.index != row.index + 1 || abs(next.top - row.bottom) > 0.001 { return "a gap or overlap" }
            }
            return boundsFault(bench, rows)
        }

        static func boundsFault(_ bench: TimelineListBench, _ rows: [RealizedRow]) -> String? {
            guard let first = rows.first, let last = rows.last else { return bench.source.count == 0 ? nil : "no rows" }
            let (list, height) = (bench.list, bench.height)
            if content(bench) <= height {
                if last.index != list.count - 1 || abs(last.bottom - height) > 0.001 { return "short content" }
            } else {
                if first.top > 0.001 { return "empty above" }
                if last.bottom < height - 0.001 { return "empty below" }
            }
            let adjustment = bench.adjustment
            if adjustment.value < adjustment.lower || adjustment.value + height > adjustment.upper + 0.001 {
                return "the value is out of bounds"
            }
            if first.index == 0, last.index == list.count - 1, content(bench) > height,
                abs(list.distanceFromStart + height + list.distanceFromEnd - content(bench)) > 0.001
            {
                return "what lies outside"
            }
            return nil
        }
    }
}
