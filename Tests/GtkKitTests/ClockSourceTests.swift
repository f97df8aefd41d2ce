import GtkTestSupport
import XCTest

@testable import GtkKit

final class ClockSourceTests: GtkTestCase {
    /// The kernel wakes the source for a timer in the past as it does for a clock that was set.
    func testSourceReportsOnceAndFreesItself() {
        onMain {
            // What an earlier test left to be freed when idle is not counted.
            while MainLoop.iterate() {}
            let closures = ClosureCount.live
            var count = 0
            do {
                let source = ClockSource(expiry: 1) { count += 1 }
                XCTAssertNotNil(source)
                XCTAssertTrue(MainLoop.pump { count > 0 })
            }
            XCTAssertEqual(count, 1)
            XCTAssertEqual(ClosureCount.live, closures)
        }
    }

    /// A clock that nobody sets wakes nobody: the source is armed and has nothing to dispatch.
    func testArmedSourceIsSilent() {
        onMain {
            // What an earlier test left to be freed when idle is not counted.
            while MainLoop.iterate() {}
            let closures = ClosureCount.live
            do {
                let source = ClockSource { XCTFail("the clock was not set") }
                XCTAssertNotNil(source)
                while MainLoop.iterate() {}
            }
            XCTAssertEqual(ClosureCount.live, closures)
        }
    }
}
