import CGtk
import GtkKit
import GtkTestSupport
import XCTest

@testable import ChatGtk

final class WindowActivityMonitorTests: GtkTestCase {
    func testOnlyTheActiveWindowCountsAsAttended() throws {
        try onMain {
            var isFreed = false
            do {
                let label = Label("Messages")
                let attention = WindowActivityMonitor(on: label)
                var reported: [Bool] = []
                attention.onChange = { reported.append($0) }
                XCTAssertFalse(attention.isActive, "not on the screen yet")
                let window = TestWindow(label)
                try RealInput.activate(window.window)
                XCTAssertTrue(MainLoop.pump { attention.isActive })
                let other = TestWindow(Label("Something else"))
                try RealInput.activate(other.window)
                XCTAssertTrue(MainLoop.pump { !attention.isActive }, "the window is open still, and nobody looks")
                try RealInput.activate(window.window)
                XCTAssertTrue(MainLoop.pump { attention.isActive })
                label.isVisible = false
                XCTAssertFalse(attention.isActive)
                label.isVisible = true
                XCTAssertTrue(MainLoop.pump { attention.isActive })
                // The window manager may move the focus back and forth while a window opens.
                XCTAssertTrue(zip(reported, reported.dropFirst()).allSatisfy(!=), "each change once: \(reported)")
                XCTAssertGreaterThanOrEqual(reported.count, 5, "true, false, true, false, true: \(reported)")
                XCTAssertEqual(reported.last, true)
                window.window.onFinalize { isFreed = true }
                other.close()
                window.close()
                XCTAssertFalse(attention.isActive)
            }
            XCTAssertTrue(MainLoop.pump { isFreed }, "it keeps no window")
        }
    }

    /// A conversation is freed while its window still shows it.
    func testFreedMonitorLeavesTheWindow() {
        onMain {
            let label = Label("Messages")
            let window = TestWindow(label)
            label.isVisible = false
            let closures = ClosureCount.live
            do {
                let monitor = WindowActivityMonitor(on: label)
                label.isVisible = true
                XCTAssertGreaterThan(ClosureCount.live, closures + 2, "of the label and of the window")
                withExtendedLifetime(monitor) {}
            }
            XCTAssertEqual(ClosureCount.live, closures + 2, "the label's, which go with it")
            window.close()
        }
    }
}
