import ChatCore
import ChatViewModels
import Foundation
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import GtkKit

/// Dates and times in the desktop's clock format.
final class DateTextTests: GtkTestCase {
    override func tearDownWithError() throws {
        onMain { ClockFormat.desktop.isTwelveHour = false }
        try super.tearDownWithError()
    }

    /// A quarter past three in the afternoon of Friday, January 2, 2026, wherever the test runs.
    private static let date = Calendar(identifier: .gregorian).date(
        from: DateComponents(year: 2026, month: 1, day: 2, hour: 15, minute: 4))!

    func testTimesAreByTheDesktopsClock() {
        onMain {
            ClockFormat.desktop.isTwelveHour = false
            XCTAssertEqual(DateText.desktop.time(Self.date), "15:04")
            XCTAssertEqual(DateText.desktop.brief(Self.date, .today), "15:04")
            XCTAssertEqual(DateText.desktop.full(Self.date), "Friday, January 2, 2026, 15:04")
            ClockFormat.desktop.isTwelveHour = true
            XCTAssertEqual(DateText.desktop.time(Self.date), "3:04 PM")
            XCTAssertEqual(DateText.desktop.brief(Self.date, .today), "3:04 PM")
            XCTAssertEqual(DateText.desktop.full(Self.date), "Friday, January 2, 2026, 3:04 PM")
        }
    }

    func testSourceDatesAreMonthFirst() {
        onMain {
            XCTAssertEqual(DateText.desktop.day(Self.date, .other(sameYear: true)), "January 2")
            XCTAssertEqual(DateText.desktop.day(Self.date, .other(sameYear: false)), "January 2, 2026")
            XCTAssertEqual(DateText.desktop.brief(Self.date, .other(sameYear: true)), "Jan 2")
        }
    }

    /// Rows that are drawn already change with the clock.
    func testRowsAreDrawnAgainWithAnotherClock() throws {
        try onMain {
            ClockFormat.desktop.isTwelveHour = false
            let bench = try ConversationBench(3)
            let before = try XCTUnwrap(bench.row(2)?.accessibleText)
            ClockFormat.desktop.isTwelveHour = true
            XCTAssertTrue(bench.wait { bench.row(2)?.accessibleText != before })
            let after = try XCTUnwrap(bench.row(2)?.accessibleText)
            XCTAssertTrue(after.contains(" AM") || after.contains(" PM"), after)
            try bench.close()
        }
    }
}
