import GtkKit
import XCTest

final class SuspendDetectorTests: XCTestCase {
    func testSuspendIsDetectedOnce() {
        var gauge = SuspendDetector(suspendedDuration: .seconds(100))
        XCTAssertFalse(gauge.hasSuspended(asleep: .seconds(100)))
        // The clocks are read one after the other, hence a few milliseconds apart.
        XCTAssertFalse(gauge.hasSuspended(asleep: .seconds(100) + .milliseconds(5)))
        XCTAssertTrue(gauge.hasSuspended(asleep: .seconds(400)))
        XCTAssertFalse(gauge.hasSuspended(asleep: .seconds(400)))
    }
}
