import GtkKit
import XCTest

final class SleepGaugeTests: XCTestCase {
    func testSleepIsSeenOnce() {
        var gauge = SleepGauge(asleep: .seconds(100))
        XCTAssertFalse(gauge.hasSlept(asleep: .seconds(100)))
        // Clocks are read one after the other.
        XCTAssertFalse(gauge.hasSlept(asleep: .seconds(100) + .milliseconds(5)))
        XCTAssertTrue(gauge.hasSlept(asleep: .seconds(400)))
        XCTAssertFalse(gauge.hasSlept(asleep: .seconds(400)))
    }
}
