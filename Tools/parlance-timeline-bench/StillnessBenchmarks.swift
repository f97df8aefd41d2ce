import CGtk
import DequeModule
import GtkKit
import ToolSupport

/// How far the row being read moves when it should stay in place, over every painted frame.
struct StillnessBenchmarks<List: BenchList> {
    let texts: BenchText
    let count: Int
    /// The maximum drift in pixels, or `nil` for a list that serves only for comparison.
    let target: Double?

    func measure(into table: inout BenchmarkTable) {
        table.add(
            drift("prepending 50, at the top") { meter in
                meter.scroller.verticalAdjustment.value -= 1e9
                meter.waitUntilIdle()
                meter.scroll([30])
            } _: {
                $0.list.insert(Self.newKeys(50), at: 0)
            })
        table.add(
            drift("prepending 50, in the middle") {
                middle($0)
            } _: {
                $0.list.insert(Self.newKeys(50), at: 0)
            })
        table.add(
            drift("prepending 50, near the bottom") {
                $0.scroll([-200])
            } _: {
                $0.list.insert(Self.newKeys(50), at: 0)
            })
        table.add(
            drift("wrapped anew in mid-list") {
                middle($0)
            } _: {
                $0.resize(to: 600)
            })
        table.add(
            drift("200 changes above and below") {
                middle($0)
            } _: {
                changes($0)
            })
        table.add(flingDrift())
        table.add(appendErrors())
        table.add(fractions())
    }

    private static func newKeys(_ count: Int) -> [Int] { (-count..<0).map { $0 - 5_000_000 } }

    private func row(_ name: String, _ value: Double, _ unit: String = "px", limit: Double) -> BenchmarkRow {
        BenchmarkRow(
            name: "timeline: \(List.name), \(texts.rawValue) \(count), \(name)", value: value, unit: unit,
            target: target == nil ? nil : limit)
    }

    private func middle(_ meter: Meter<List>) {
        meter.list.scroll(to: count / 2)
        meter.waitUntilIdle()
        _ = meter.scroll([-40.3, -33.4])
    }

    /// The maximum distance in pixels of the row being read from its expected position, or 9999 if it left the view.
    private func drift(
        _ name: String, _ prepare: (Meter<List>) -> Void, _ change: (Meter<List>) -> Void
    ) -> BenchmarkRow {
        let meter = Meter<List>(texts, count)
        defer { meter.close() }
        prepare(meter)
        meter.waitUntilIdle()
        guard let read = meter.read else { return row("drift, " + name, 9999, limit: 1) }
        var worst = 0.0
        meter.onFrame = {
            worst = max(worst, meter.bottom(ofKey: read.key).map { abs($0 - read.bottom) } ?? 9999)
        }
        meter.frame { change(meter) }
        for _ in 0..<4 { meter.waitUntilIdle() }
        return row("drift, " + name, worst, limit: 1)
    }

    private func changes(_ meter: Meter<List>) {
        guard let read = meter.read, let index = meter.list.keys.firstIndex(of: read.key) else { return }
        var seed = 1
        for _ in 0..<20 {
            meter.frame {
                for _ in 0..<10 {
                    seed = (seed &* 1_103_515_245 &+ 12345) & 0x7FFF_FFFF
                    let distance = 1 + seed / 7 % 40
                    let other = seed & 64 == 0 ? index - distance : index + distance
                    if meter.list.keys.indices.contains(other) { meter.list.grow(other, by: seed / 11 % 60 - 20) }
                }
            }
        }
    }

    /// A fling sets decelerating absolute positions, as GTK's kinetic scrolling does; rows are inserted halfway.
    private func flingDrift() -> BenchmarkRow {
        let meter = Meter<List>(texts, count)
        defer { meter.close() }
        middle(meter)
        var (value, speed, worst) = (meter.scroller.verticalAdjustment.value, -60.0, 0.0)
        for step in 0..<40 {
            guard let read = meter.read else { return row("drift, prepending 50 in mid-fling", 9999, limit: 1) }
            let before = meter.scroller.verticalAdjustment.value
            value += speed
            speed *= 0.96
            meter.frame {
                meter.scroller.verticalAdjustment.value = value
                if step == 20 { meter.list.insert(Self.newKeys(50), at: 0) }
            }
            let moved = before - value
            worst = max(worst, meter.bottom(ofKey: read.key).map { abs($0 - read.bottom - moved) } ?? 9999)
        }
        return row("drift, prepending 50 in mid-fling", worst, limit: 1)
    }

    /// The number of painted frames in which the last row was not at the bottom.
    private func appendErrors() -> BenchmarkRow {
        let meter = Meter<List>(texts, count)
        defer { meter.close() }
        var wrong = 0.0
        for step in 0..<20 {
            meter.list.insert([6_000_000 + step], at: meter.list.keys.count)
            meter.onFrame = {
                if meter.bottom(meter.list.keys.count - 1) != meter.height { wrong += 1 }
            }
            // GTK's lists do not follow the end on their own.
            if List.self != OurList.self { meter.list.scrollToEnd() }
            meter.frame {}
            meter.onFrame = nil
            meter.waitUntilIdle()
        }
        return row("wrong frames in 20 appends", wrong, "frames", limit: 0)
    }

    /// The difference between 100 scrolls of 0.4 px and 40 px.
    private func fractions() -> BenchmarkRow {
        let meter = Meter<List>(texts, count)
        defer { meter.close() }
        middle(meter)
        guard let read = meter.read else { return row("100 scrolls of 0.4 px, off by", 9999, limit: 1) }
        for _ in 0..<100 { meter.frame { meter.scroller.verticalAdjustment.value -= 0.4 } }
        let moved = (meter.bottom(ofKey: read.key) ?? 9999) - read.bottom
        return row("100 scrolls of 0.4 px, off by", abs(moved - 40), limit: 1)
    }
}
