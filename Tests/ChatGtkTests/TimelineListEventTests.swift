import CGtk
import Foundation
import GtkKit
import GtkTestSupport
import XCTest

@testable import ChatGtk

/// Real wheel, pointer and key events, as the display sends them.
final class TimelineListEventTests: GtkTestCase {
    @MainActor
    private static func fullScreenBench() -> TimelineListBench {
        let bench = TimelineListBench(TimelineListBench.heights(1000))
        gtk_scrolled_window_set_overlay_scrolling(bench.scroller.cast(), 0)
        gtk_window_fullscreen(bench.window.window.cast())
        _ = MainLoop.pump { bench.height == 800 }
        bench.settle()
        _ = MainLoop.pump { gtk_window_is_active(bench.window.window.cast()) != 0 }
        return bench
    }

    /// Sends events and waits until `condition` holds.
    @MainActor
    private static func send(_ arguments: [String], until condition: () -> Bool) throws -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["xdotool"] + arguments
        try process.run()
        return MainLoop.pump { !process.isRunning && condition() }
    }

    func testTheWheelScrolls() throws {
        try onMain {
            let bench = Self.fullScreenBench()
            let key = bench.readKey
            let before = bench.top(key)
            XCTAssertTrue(
                try Self.send(["mousemove", "600", "400", "click", "4"]) { bench.list.distanceFromEnd > 0 })
            bench.settle()
            let notch = bench.list.distanceFromEnd
            XCTAssertEqual(bench.top(key), before + notch, accuracy: 0.5)
            XCTAssertFalse(bench.list.isAtEnd)
            XCTAssertTrue(
                try Self.send(["click", "--repeat", "5", "--delay", "20", "4"]) {
                    bench.list.distanceFromEnd > 5.9 * notch
                })
            XCTAssertTrue(
                try Self.send(["click", "--repeat", "8", "--delay", "20", "5"]) { bench.list.isAtEnd })
            bench.settle()
            XCTAssertEqual(bench.bottom(bench.lastKey), bench.height)
            bench.close()
        }
    }

    func testTheKeysScrollAndMoveTheFocus() throws {
        try onMain {
            let bench = Self.fullScreenBench()
            XCTAssertTrue(bench.widget.grabFocus())
            XCTAssertTrue(try Self.send(["key", "Up", "Up", "Up"]) { bench.list.focusedRow == 996 })
            XCTAssertTrue(try Self.send(["key", "Page_Up"]) { bench.list.distanceFromEnd == 720 })
            XCTAssertTrue(try Self.send(["key", "Home"]) { bench.list.distanceFromStart == 0 })
            bench.settle()
            XCTAssertEqual(bench.top(0), 0)
            XCTAssertTrue(try Self.send(["key", "Page_Down"]) { bench.list.distanceFromStart == 720 })
            XCTAssertTrue(try Self.send(["key", "End"]) { bench.list.isAtEnd })
            bench.settle()
            XCTAssertEqual(bench.bottom(bench.lastKey), bench.height)
            bench.close()
        }
    }

    func testTheThumbIsDragged() throws {
        try onMain {
            let bench = Self.fullScreenBench()
            let x = String(bench.scroller.width - 5)
            XCTAssertTrue(
                try Self.send(["mousemove", x, "790", "mousedown", "1", "mousemove", x, "780"]) {
                    bench.list.isThumbDragged
                })
            XCTAssertTrue(try Self.send(["mousemove", x, "400"]) { bench.list.distanceFromEnd > 15_000 })
            bench.settle()
            XCTAssertTrue(bench.list.index.isEstimateFrozen, "the thumb stays under the pointer")
            let share = bench.list.distanceFromStart / (bench.list.distanceFromStart + bench.list.distanceFromEnd)
            XCTAssertEqual(share, 0.5, accuracy: 0.05)
            XCTAssertTrue(try Self.send(["mousemove", x, "0"]) { bench.list.distanceFromStart == 0 })
            bench.settle()
            XCTAssertEqual(bench.top(0), 0)
            XCTAssertTrue(try Self.send(["mouseup", "1"]) { !bench.list.isThumbDragged })
            bench.widget.queueAllocate()
            bench.settle()
            XCTAssertFalse(bench.list.index.isEstimateFrozen)
            bench.close()
        }
    }
}
