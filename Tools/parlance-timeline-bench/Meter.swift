import CGtk
import DequeModule
import Foundation
import GtkKit
import TimelineGtk

/// A window with one list, measuring the main-thread cost of its frames.
final class Meter<List: BenchList> {
    let list: List
    let scroller = ScrolledWindow(sinking: gtk_scrolled_window_new())
    private let window = Widget(sinking: gtk_window_new())
    private(set) var painted = 0
    /// Called after each painted frame.
    var onFrame: (() -> Void)?
    private var connection: SignalConnection?

    /// Main-thread milliseconds until the list was in the window with its last row in position.
    private(set) var firstFrame = 0.0
    /// The number of frames until then.
    private(set) var firstFrames = 0

    init(_ texts: BenchText, _ count: Int, width: Int32 = 800) {
        window.withPointer { gtk_window_set_default_size($0, width, 700) }
        window.withPointer { gtk_window_set_decorated($0, 0) }
        scroller.withPointer { gtk_scrolled_window_set_policy($0, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC) }
        let scroller = scroller
        window.withPointer { first in scroller.withPointer { second in gtk_window_set_child(first, second) } }
        window.withPointer { gtk_window_present($0) }
        _ = MainLoop.pump { scroller.height == 700 }
        // Exclude the cost of the window itself.
        let clock = Object(borrowing: UnsafeMutableRawPointer(window.withPointer { gtk_widget_get_frame_clock($0) }))
        Self.waitUntilQuiet()
        let start = Meter.cpu
        list = List(texts, count: count)
        connection = clock.connect("after-paint") { [weak self] _ in
            guard let self else { return }
            self.painted += 1
            self.onFrame?()
        }
        scroller.setChild(list.widget)
        let before = painted
        repeat {
            list.scrollToEnd()
            _ = frame {}
        } while bottom(list.keys.count - 1) != height && painted < before + 100
        firstFrame = Meter.cpu - start
        firstFrames = painted - before
        waitUntilIdle()
    }

    func close() {
        connection?.disconnect()
        window.withPointer { gtk_window_destroy($0) }
        Self.waitUntilQuiet()
    }

    // MARK: Time

    /// The CPU time of the main thread, in milliseconds.
    static var cpu: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1_000_000
    }

    private static func waitUntilQuiet() {
        while MainLoop.iterate() {}
    }

    /// Returns the main-thread milliseconds for `action` and everything until the end of the next frame.
    @discardableResult
    func frame(_ action: () -> Void) -> Double {
        let (start, target) = (Meter.cpu, painted + 1)
        action()
        list.widget.withPointer { gtk_widget_queue_draw($0) }
        _ = MainLoop.pump(forAtMost: 300) { painted >= target }
        return Meter.cpu - start
    }

    /// Runs until no idle work is left, and returns the milliseconds that took.
    @discardableResult
    func waitUntilIdle() -> Double {
        let start = Meter.cpu
        _ = MainLoop.pump(forAtMost: 300) { !list.isBusy }
        frame {}
        _ = MainLoop.pump(forAtMost: 300) { !list.isBusy }
        return Meter.cpu - start
    }

    /// Scrolls by these distances in pixels, one per frame, idling in between. Returns the cost of each frame.
    @discardableResult
    func scroll(_ steps: [Double]) -> [Double] {
        steps.map { step in
            let cost = frame { scroller.verticalAdjustment.value += step }
            _ = MainLoop.pump(forAtMost: 300) { !list.isBusy }
            return cost
        }
    }

    // MARK: Positions

    var height: Double { Double(scroller.height) }

    func top(_ key: Int) -> Double? { list.row(key)?.bounds(in: scroller)?.y }

    func bottom(_ index: Int) -> Double? { list.row(list.keys[index])?.bounds(in: scroller).map { $0.y + $0.height } }

    /// The row being read: the lowest one whose bottom edge is in view, by key and position of that edge.
    var read: (key: Int, bottom: Double)? {
        var found: (Int, Double)?
        for index in around where list.keys.indices.contains(index) {
            let key = list.keys[index]
            guard let row = list.row(key), row.isMapped, let rowBounds = row.bounds(in: scroller) else { continue }
            let bottom = rowBounds.y + rowBounds.height
            if bottom > 0, bottom <= height, bottom > found?.1 ?? 0 { found = (key, bottom) }
        }
        return found
    }

    /// The indices of the rows that may be in view.
    private var around: Range<Int> {
        if let ours = list as? OurList { return ours.list.visibleRows }
        return 0..<list.keys.count
    }

    func bottom(ofKey key: Int) -> Double? {
        guard let row = list.row(key), let rowBounds = row.bounds(in: scroller) else { return nil }
        return rowBounds.y + rowBounds.height
    }

    func resize(to width: Int32) { window.withPointer { gtk_window_set_default_size($0, width, 700) } }
}

extension [Double] {
    /// Returns the value at a quantile from 0 to 1.
    func percentile(_ share: Double) -> Double {
        let ordered = sorted()
        return ordered.isEmpty ? 0 : ordered[Swift.min(ordered.count - 1, Int(Double(ordered.count) * share))]
    }

    var median: Double { percentile(0.5) }
}
