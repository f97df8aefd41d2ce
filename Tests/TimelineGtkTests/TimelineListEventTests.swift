import CGtk
import Foundation
import GtkTestSupport
import XCTest

@testable import GtkKit
@testable import TimelineGtk

/// Real wheel, pointer and key events from the display server.
final class TimelineListEventTests: GtkTestCase {
    @MainActor
    private static func fullScreenBench(_ heights: [Int]? = nil) throws -> TimelineListBench {
        let bench = TimelineListBench(heights ?? TimelineListBench.heights(1000))
        gtk_scrolled_window_set_overlay_scrolling(bench.scroller.cast(), 0)
        gtk_window_fullscreen(bench.window.window.cast())
        guard MainLoop.pump(until: { bench.height == 800 }) else { throw TimedOut() }
        try RealInput.activate(bench.window.window)
        bench.waitUntilIdle()
        return bench
    }

    /// Sends events with xdotool and waits until `condition` holds.
    @MainActor
    private static func send(_ arguments: [String], until condition: () -> Bool) throws -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["xdotool"] + arguments
        try process.run()
        return MainLoop.pump { !process.isRunning && condition() }
    }

    func testWheelScrolls() throws {
        try onMain {
            let bench = try Self.fullScreenBench()
            let key = bench.readKey
            let before = bench.top(key)
            XCTAssertTrue(
                try Self.send(["mousemove", "600", "400", "click", "4"]) { bench.list.distanceFromEnd > 0 })
            bench.waitUntilIdle()
            let notch = bench.list.distanceFromEnd
            XCTAssertEqual(bench.top(key), before + notch, accuracy: 0.5)
            XCTAssertFalse(bench.list.isAtEnd)
            XCTAssertTrue(
                try Self.send(["click", "--repeat", "5", "--delay", "20", "4"]) {
                    bench.list.distanceFromEnd > 5.9 * notch
                })
            XCTAssertTrue(
                try Self.send(["click", "--repeat", "8", "--delay", "20", "5"]) { bench.list.isAtEnd })
            bench.waitUntilIdle()
            XCTAssertEqual(bench.bottom(bench.lastKey), bench.height)
            bench.close()
        }
    }

    func testKeysScrollAndMoveTheFocus() throws {
        try onMain {
            let bench = try Self.fullScreenBench()
            XCTAssertTrue(bench.widget.grabFocus())
            XCTAssertTrue(try Self.send(["key", "Up", "Up", "Up"]) { bench.list.focusedRow == 996 })
            XCTAssertTrue(try Self.send(["key", "Page_Up"]) { bench.list.distanceFromEnd == 720 })
            XCTAssertTrue(try Self.send(["key", "Home"]) { bench.list.distanceFromStart == 0 })
            bench.waitUntilIdle()
            XCTAssertEqual(bench.top(0), 0)
            XCTAssertTrue(try Self.send(["key", "Page_Down"]) { bench.list.distanceFromStart == 720 })
            XCTAssertTrue(try Self.send(["key", "End"]) { bench.list.isAtEnd })
            bench.waitUntilIdle()
            XCTAssertEqual(bench.bottom(bench.lastKey), bench.height)
            bench.close()
        }
    }

    func testThumbCanBeDragged() throws {
        try onMain {
            let bench = try Self.fullScreenBench()
            let x = String(bench.scroller.width - 5)
            XCTAssertTrue(
                try Self.send(["mousemove", x, "790", "mousedown", "1", "mousemove", x, "780"]) {
                    bench.list.scroller.isThumbDragged
                })
            XCTAssertTrue(try Self.send(["mousemove", x, "400"]) { bench.list.distanceFromEnd > 15_000 })
            bench.waitUntilIdle()
            XCTAssertTrue(bench.list.layout.index.isEstimateFrozen, "the thumb stays under the pointer")
            let share = bench.list.distanceFromStart / (bench.list.distanceFromStart + bench.list.distanceFromEnd)
            XCTAssertEqual(share, 0.5, accuracy: 0.05)
            XCTAssertTrue(try Self.send(["mousemove", x, "0"]) { bench.list.distanceFromStart == 0 })
            bench.waitUntilIdle()
            XCTAssertEqual(bench.top(0), 0)
            XCTAssertTrue(try Self.send(["mouseup", "1"]) { !bench.list.scroller.isThumbDragged })
            bench.widget.queueAllocate()
            bench.waitUntilIdle()
            XCTAssertFalse(bench.list.layout.index.isEstimateFrozen)
            bench.close()
        }
    }

    /// With 10,000 rows of different heights, the thumb follows the pointer and no frame has a gap.
    func testThumbFollowsThePointer() throws {
        try onMain {
            let bench = try Self.fullScreenBench((0..<10_000).map { 20 + $0 * 7919 % 300 })
            let x = String(bench.scroller.width - 5)
            XCTAssertTrue(
                try Self.send(["mousemove", x, "790", "mousedown", "1", "mousemove", x, "780"]) {
                    bench.list.scroller.isThumbDragged
                })
            let adjustment = bench.adjustment
            let clock = Object(borrowing: UnsafeMutableRawPointer(gtk_widget_get_frame_clock(bench.widget.cast())))
            var (gaps, backwards, last) = (0, 0, 1.0)
            let watching = clock.connect("after-paint") { _ in
                if !bench.list.layout.coversViewport { gaps += 1 }
                let share =
                    (adjustment.value - adjustment.lower) / (adjustment.upper - adjustment.lower - adjustment.pageSize)
                // Tolerate half a pixel of the track: measured heights differ slightly from the estimates.
                if share > last + 0.5 / 800 { backwards += 1 }
                last = share
            }
            // One pixel at a time: each step moves the thumb as far as the first.
            XCTAssertTrue(try Self.send(["mousemove", x, "740"]) { last < 0.99 })
            bench.rest()
            let (start, before) = (last, last)
            XCTAssertTrue(try Self.send(["mousemove", x, "700"]) { last < before })
            bench.rest()
            let step = start - last
            XCTAssertEqual(step, 40 / (800 - bench.thumbHeight), accuracy: 0.005)
            for place in 2...16 {
                let expected = start - Double(place) * step
                XCTAssertTrue(
                    try Self.send(["mousemove", x, "\(740 - 40 * place)"]) { abs(last - expected) < 0.005 },
                    "\(place) steps up: \(last), not \(expected)")
            }
            watching.disconnect()
            XCTAssertEqual(gaps, 0, "frames with nothing in a part of the viewport")
            XCTAssertEqual(backwards, 0)
            XCTAssertTrue(try Self.send(["mouseup", "1"]) { !bench.list.scroller.isThumbDragged })
            bench.close()
        }
    }

    /// Clicking the track scrolls to that position, with complete rows.
    func testTrackClickScrollsToThePosition() throws {
        try onMain {
            let bench = try Self.fullScreenBench()
            let x = String(bench.scroller.width - 5)
            for y in [200, 600, 400] {
                let before = bench.list.distanceFromStart
                XCTAssertTrue(
                    try Self.send(["mousemove", x, "\(y)", "click", "1"]) { bench.list.distanceFromStart != before })
                bench.rest()
                XCTAssertTrue(bench.list.layout.coversViewport)
                let share =
                    bench.list.distanceFromStart / (bench.list.distanceFromStart + bench.list.distanceFromEnd)
                // GTK computes the target value at the click and animates toward it. Measuring rows on the way
                // shifts what that value refers to, by an amount that depends on the number of frames and thus on
                // GTK's speed.
                let thumb = bench.thumbHeight
                XCTAssertEqual(share, (Double(y) - thumb / 2) / (800 - thumb), accuracy: 0.1, "at \(y)")
            }
            bench.close()
        }
    }
}
