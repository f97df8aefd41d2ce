import CGtk
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import GtkKit

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

    /// The window stays active behind a locked screen.
    func testNothingIsAttendedWhileTheScreenIsLocked() throws {
        try onMain {
            let label = Label("Messages")
            let attention = WindowActivityMonitor(on: label)
            let window = TestWindow(label)
            defer { ScreenLock.desktop.isLocked = false }
            try RealInput.activate(window.window)
            XCTAssertTrue(MainLoop.pump { attention.isActive })
            ScreenLock.desktop.isLocked = true
            XCTAssertTrue(MainLoop.pump { !attention.isActive })
            // What the window manager reports meanwhile changes nothing.
            label.isVisible = false
            label.isVisible = true
            XCTAssertTrue(MainLoop.pump { label.isMapped })
            XCTAssertFalse(attention.isActive)
            ScreenLock.desktop.isLocked = false
            XCTAssertTrue(MainLoop.pump { attention.isActive })
            window.close()
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
