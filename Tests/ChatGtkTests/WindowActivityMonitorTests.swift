import CGtk
import GtkKit
import GtkTestSupport
import XCTest

@testable import ChatGtk

final class AttentionTests: GtkTestCase {
    func testOnlyTheActiveWindowCountsAsAttended() throws {
        try onMain {
            var isFreed = false
            do {
                let label = Label("Messages")
                let attention = WindowActivityMonitor(on: label)
                var told: [Bool] = []
                attention.onChange = { told.append($0) }
                XCTAssertFalse(attention.isThere, "not on the screen yet")
                let window = TestWindow(label)
                try RealInput.activate(window.window)
                XCTAssertTrue(MainLoop.pump { attention.isThere })
                let other = TestWindow(Label("Something else"))
                try RealInput.activate(other.window)
                XCTAssertTrue(MainLoop.pump { !attention.isThere }, "the window is open still, and nobody looks")
                try RealInput.activate(window.window)
                XCTAssertTrue(MainLoop.pump { attention.isThere })
                label.isVisible = false
                XCTAssertFalse(attention.isThere)
                label.isVisible = true
                XCTAssertTrue(MainLoop.pump { attention.isThere })
                XCTAssertEqual(told.count, 5, "each change once: \(told)")
                window.window.onFinalize { isFreed = true }
                other.close()
                window.close()
                XCTAssertFalse(attention.isThere)
            }
            XCTAssertTrue(MainLoop.pump { isFreed }, "it keeps no window")
        }
    }
}
