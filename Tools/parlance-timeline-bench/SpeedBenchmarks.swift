import CGtk
import DequeModule
import GtkKit
import TimelineGtk
import ToolSupport

/// The cost of a list, in main-thread milliseconds.
struct Speed {
    var first = 0.0
    var append = 0.0
    var prepend = 0.0
    var jump = 0.0
    var wheel: [Double] = []
    var pages: [Double] = []
    /// How many times the scrollbar's slider moved against the scroll direction.
    var backward = 0
    var maxLiveRows = 0
    /// The maximum number of rows in view at once.
    var maxVisibleRows = 0
    var bindings = 0
    var layouts = 0

    /// GtkScrolledWindow's step per wheel notch: the viewport's height to the power of two thirds.
    private static let notch = 78.84

    static func measure<List: BenchList>(_: List.Type, _ texts: BenchText, _ count: Int) -> Speed {
        let meter = Meter<List>(texts, count)
        defer { meter.close() }
        var speed = Speed()
        speed.first = meter.firstFrame
        speed.append =
            (0..<9).map { step in
                let cost = meter.frame {
                    meter.list.insert([7_000_000 + step], at: meter.list.keys.count)
                    if List.self != OurList.self { meter.list.scrollToEnd() }
                }
                meter.waitUntilIdle()
                return cost
            }.median
        speed.prepend =
            (0..<9).map { step in
                let keys = (0..<50).map { -1_000 * (step + 1) + $0 }
                let cost = meter.frame { meter.list.insert(keys, at: 0) }
                meter.waitUntilIdle()
                return cost
            }.median
        speed.jump =
            (1...9).map { step in
                let target = (step * 7919 + 13) * 104_729 % (meter.list.keys.count * 9 / 10)
                return speed.countingRows(meter) { Self.jump(meter, to: target) }
            }.median
        meter.list.scroll(to: meter.list.keys.count / 2)
        meter.waitUntilIdle()
        for direction in [-1.0, 1.0] { speed.wheel(meter, direction) }
        for direction in [-1.0, 1.0] {
            for _ in 0..<20 {
                let cost = speed.countingRows(meter) { meter.scroll([direction * 0.9 * meter.height])[0] }
                speed.pages.append(cost)
            }
        }
        return speed
    }

    private static func jump<List: BenchList>(_ meter: Meter<List>, to index: Int) -> Double {
        var cost = 0.0
        let key = meter.list.keys[index]
        for _ in 0..<20 {
            cost += meter.frame { meter.list.scroll(to: index) }
            if let top = meter.top(key), meter.list.row(key)?.isMapped == true, top > -meter.height, top < meter.height
            {
                break
            }
        }
        meter.waitUntilIdle()
        return cost
    }

    private mutating func wheel<List: BenchList>(_ meter: Meter<List>, _ direction: Double) {
        var last = Self.thumb(meter)
        for _ in 0..<120 {
            let cost = countingRows(meter) { meter.scroll([direction * Self.notch])[0] }
            wheel.append(cost)
            let now = Self.thumb(meter)
            if (now - last) * direction < -1e-9 { backward += 1 }
            last = now
        }
    }

    /// The position of the slider's upper edge, as a fraction of the trough.
    private static func thumb<List: BenchList>(_ meter: Meter<List>) -> Double {
        let adjustment = meter.scroller.verticalAdjustment
        return (adjustment.value - adjustment.lower) / (adjustment.upper - adjustment.lower)
    }

    private mutating func countingRows<List: BenchList>(_ meter: Meter<List>, _ body: () -> Double) -> Double {
        guard let list = (meter.list as? OurList)?.list else { return body() }
        let (layoutsBefore, bindingsBefore) = (TextRow.layouts, list.statistics.bindings)
        let result = body()
        maxLiveRows = max(maxLiveRows, list.statistics.widgets)
        maxVisibleRows = max(maxVisibleRows, list.visibleRows.count)
        bindings += list.statistics.bindings - bindingsBefore
        layouts += TextRow.layouts - layoutsBefore
        return result
    }

    func rows(_ name: String, _ texts: BenchText, _ count: Int) -> [BenchmarkRow] {
        let figures: [(String, Double)] = [
            ("first correct frame", first), ("append one", append), ("prepend 50", prepend), ("jump", jump),
            ("wheel frame, median", wheel.median), ("wheel frame, 95th percentile", wheel.percentile(0.95)),
            ("page frame, 95th percentile", pages.percentile(0.95)),
        ]
        return figures.map {
            BenchmarkRow(
                name: "timeline: \(name), \(texts.rawValue) \(count), \($0)", value: $1, unit: "ms CPU", target: nil)
        }
    }
}
