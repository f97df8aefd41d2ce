import CGtk
import Foundation
import GtkKit
import TimelineGtk
import ToolSupport

/// All benchmarks of the timeline's list.
enum TimelineBenchmarks {
    private static let sizes = [100, 1000, 10_000, 100_000, 1_000_000]

    /// The sections that can be run separately, in the order of a full run.
    enum Section: String, CaseIterable {
        case still, speed, mixed, idle, memory, instructions
    }

    /// Runs the sections, printing each row as it is measured.
    /// - Returns: whether all targets are met.
    static func report(_ sections: [Section]) throws -> Bool {
        var table = BenchmarkTable(nameWidth: 84)
        for section in sections {
            switch section {
            case .still: still(&table)
            case .speed: for texts in BenchText.allCases { speeds(texts, &table) }
            case .mixed: table.add(MixedBenchmarks.rows())
            case .idle: table.add(idle())
            case .memory: table.add(memory())
            case .instructions: table.add(try instructions())
            }
        }
        return table.finish()
    }

    private static func still(_ table: inout BenchmarkTable) {
        for texts in BenchText.allCases {
            StillnessBenchmarks<OurList>(texts: texts, count: 10_000, target: 1).measure(into: &table)
        }
        StillnessBenchmarks<GtkList>(texts: .short, count: 10_000, target: nil).measure(into: &table)
        StillnessBenchmarks<PlainBox>(texts: .short, count: 1000, target: nil).measure(into: &table)
    }

    // MARK: Speed

    private static func speeds(_ texts: BenchText, _ table: inout BenchmarkTable) {
        var ours: [Int: Speed] = [:]
        // The cost of long rows is constant from 1,000 rows on, and GtkListView takes seconds for them.
        for count in texts == .short ? sizes : [1000, 100_000, 1_000_000] {
            let speed = Speed.measure(OurList.self, texts, count)
            ours[count] = speed
            table.add(speed.rows(OurList.name, texts, count) + limits(speed, texts, count))
            let other = Speed.measure(GtkList.self, texts, count)
            table.add(other.rows(GtkList.name, texts, count))
            if count == 100_000 { table.add(comparison(texts, speed, other)) }
            if count <= (texts == .short ? PlainBox.maxRows : 1000) {
                table.add(Speed.measure(PlainBox.self, texts, count).rows(PlainBox.name, texts, count))
            }
        }
        if let small = ours[1000], let large = ours[1_000_000] { table.add(growth(texts, small, large)) }
    }

    private static func comparison(_ texts: BenchText, _ ours: Speed, _ theirs: Speed) -> [BenchmarkRow] {
        let targets = texts == .short ? [0.35, 0.3, 0.75] : [0.1, 0.1, 0.2]
        let ratios = [
            ("first correct frame", ours.first / theirs.first), ("jump", ours.jump / theirs.jump),
            ("wheel frame, 95th percentile", ours.wheel.percentile(0.95) / theirs.wheel.percentile(0.95)),
        ]
        return zip(ratios, targets).map { ratio, target in
            BenchmarkRow(
                name: "timeline: \(texts.rawValue) 100000, \(ratio.0), to GtkListView", value: ratio.1, unit: "ratio",
                target: target)
        }
    }

    private static func limits(_ speed: Speed, _ texts: BenchText, _ count: Int) -> [BenchmarkRow] {
        let name = "timeline: \(texts.rawValue) \(count), "
        var rows = [
            BenchmarkRow(
                name: name + "slowest of 240 wheel frames", value: speed.wheel.max() ?? .infinity, unit: "ms CPU",
                target: 16.7),
            BenchmarkRow(
                name: name + "thumb against the wheel", value: Double(speed.backward), unit: "times", target: 0),
            BenchmarkRow(
                name: name + "row widgets at most", value: Double(speed.maxLiveRows), unit: "rows",
                target: Double(3 * speed.maxVisibleRows + 20)),
            BenchmarkRow(
                name: name + "text layouts for each row bound",
                value: Double(speed.layouts) / Double(max(1, speed.bindings)), unit: "layouts", target: 1),
        ]
        if texts == .long {
            rows.append(
                BenchmarkRow(
                    name: name + "page frame, 95th percentile", value: speed.pages.percentile(0.95), unit: "ms CPU",
                    target: 10))
        }
        return rows
    }

    private static func growth(_ texts: BenchText, _ small: Speed, _ large: Speed) -> [BenchmarkRow] {
        [
            ("append", large.append / small.append), ("prepend 50", large.prepend / small.prepend),
            ("jump", large.jump / small.jump),
        ].map {
            BenchmarkRow(
                name: "timeline: \(texts.rawValue), \($0), 1,000,000 to 1,000", value: $1, unit: "ratio", target: 1.5)
        }
    }

    // MARK: Idle, memory, instructions

    private static func idle() -> [BenchmarkRow] {
        let meter = Meter<OurList>(.short, 100_000)
        defer { meter.close() }
        _ = meter.scroll([-500])
        meter.waitUntilIdle()
        // Wait for the overlay scrollbar to fade out.
        _ = MainLoop.pump(forAtMost: 5) { false }
        let before = meter.painted
        _ = MainLoop.pump(forAtMost: 10) { false }
        return [
            BenchmarkRow(
                name: "timeline: painted in 10 idle seconds", value: Double(meter.painted - before), unit: "frames",
                target: 0)
        ]
    }

    private static func memory() -> [BenchmarkRow] {
        let meter = Meter<OurList>(.short, 1000)
        defer { meter.close() }
        let before = mallinfo2().uordblks
        var index = HeightIndex()
        index.insert(1_000_000, at: 0)
        let unmeasured = mallinfo2().uordblks - before
        for row in 0..<1_000_000 { index.measure(row, height: 20 + row * 31 % 300) }
        let measured = mallinfo2().uordblks - before
        index.reset(rows: 1_000_000)
        // Scattered positions, as when dragging the slider: the memory for their heights is bounded.
        for row in stride(from: 0, to: 1_000_000, by: 40) { index.measure(row, height: 40) }
        let scattered = Int(mallinfo2().uordblks) - Int(before) - 2 * index.measuredRows
        return [
            BenchmarkRow(
                name: "timeline: memory for 1,000,000 rows, none measured", value: Double(unmeasured), unit: "bytes",
                target: 1_000_000),
            BenchmarkRow(
                name: "timeline: memory for 1,000,000 rows, all measured", value: Double(measured), unit: "bytes",
                target: 3_000_000),
            BenchmarkRow(
                name: "timeline: memory for 25,000 places in 1,000,000 rows, beyond 2 bytes a row",
                value: Double(scattered), unit: "bytes", target: 1_000_000),
        ]
    }

    private static func instructions() throws -> BenchmarkRow {
        let cost = try [1000, 1_000_000].map {
            try Callgrind.instructions(per: "layout", [String($0)], few: 1, many: 3)
        }
        return BenchmarkRow(
            name: "timeline: layout instructions, 1,000,000 to 1,000", value: cost[1] / cost[0], unit: "ratio",
            target: 1.15)
    }

    /// Runs a workload by name, for ``Callgrind``.
    ///
    /// - Returns: `false` if there is no such workload.
    static func run(_ arguments: [String]) -> Bool {
        let numbers = arguments.dropFirst().compactMap { Int($0) }
        guard arguments.first == "layout", numbers.count == 2 else { return false }
        let list = OurList(.short, count: numbers[0])
        for _ in 0..<numbers[1] { script(list) }
        return true
    }

    /// The same steps for any number of rows. Layouts are forced, not awaited, so the result does not depend on timing.
    private static func script(_ ours: OurList) {
        func layOut() {
            var allocation = GdkRectangle(x: 0, y: 0, width: 800, height: 700)
            ours.widget.withPointer { gtk_widget_queue_allocate($0) }
            ours.widget.withPointer { gtk_widget_size_allocate($0, &allocation, -1) }
        }
        layOut()
        for step in 0..<40 {
            ours.list.scroll(by: step < 20 ? -79 : 79)
            layOut()
        }
        for step in 1...8 {
            ours.list.scroll(toIndex: ours.count * step / 9, at: .start)
            layOut()
            ours.grow(ours.count * step / 9 + 1, by: 10)
            layOut()
        }
        ours.scrollToEnd()
        layOut()
    }
}
