import GtkTestSupport
import XCTest

@testable import GtkKit

final class ClockSourceTests: GtkTestCase {
    /// The kernel reports a timer in the past like a clock change.
    func testSourceReportsOnceAndFreesItself() {
        onMain {
            // Do not count closures of earlier tests that an idle source will free.
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

    /// Until the clock is set, the armed source has nothing to dispatch.
    func testArmedSourceIsSilent() {
        onMain {
            // Do not count closures of earlier tests that an idle source will free.
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
