import ChatViewModels
import Foundation
import Glibc
import Testing

struct CalendarDayTests {
    private static func length(ofMonth month: Int, in year: Int) -> Int {
        switch month {
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Covers every day from 1900 to 2101; 1900 and 2100 are not leap years, 2000 is.
    @Test func numbersEachDayOnce() {
        let origin = CalendarDay(year: 1899, month: 12, day: 31)
        var (expected, previous) = (0, origin)
        for year in 1900...2101 {
            for month in 1...12 {
                for day in 1...Self.length(ofMonth: month, in: year) {
                    expected += 1
                    let today = CalendarDay(year: year, month: month, day: day)
                    if origin.days(to: today) != expected || today.days(to: origin) != -expected || today <= previous {
                        Issue.record("\(today)")
                        return
                    }
                    previous = today
                }
            }
        }
        #expect(expected == 73_779)
    }

    static let relative: [(then: (Int, Int, Int), now: (Int, Int, Int), RelativeDay)] = [
        ((2026, 3, 10), (2026, 3, 10), .today), ((2026, 3, 9), (2026, 3, 10), .yesterday),
        ((2026, 3, 8), (2026, 3, 10), .thisWeek), ((2026, 3, 4), (2026, 3, 10), .thisWeek),
        ((2026, 3, 3), (2026, 3, 10), .other(sameYear: true)),
        ((2026, 3, 11), (2026, 3, 10), .other(sameYear: true)),
        ((2027, 1, 1), (2026, 12, 31), .other(sameYear: false)),
        ((2025, 12, 31), (2026, 1, 1), .yesterday), ((2025, 12, 26), (2026, 1, 1), .thisWeek),
        ((2025, 12, 25), (2026, 1, 1), .other(sameYear: false)), ((2026, 1, 1), (2026, 12, 31), .other(sameYear: true)),
        ((2024, 2, 29), (2024, 3, 1), .yesterday), ((2025, 2, 28), (2025, 3, 1), .yesterday),
        ((2024, 2, 28), (2024, 3, 1), .thisWeek), ((2000, 2, 29), (2000, 3, 1), .yesterday),
    ]

    @Test(arguments: relative)
    func relativeDaysFollowTheCalendar(then: (Int, Int, Int), now: (Int, Int, Int), expected: RelativeDay) {
        for (hour, other) in [(0, 23), (23, 0), (12, 12)] {
            let date = localTime(then.0, then.1, then.2, hour)
            #expect(RelativeDay(date, now: localTime(now.0, now.1, now.2, other)) == expected)
        }
    }

    @Test func daysChangeAtMidnight() {
        let midnight = localTime(2026, 1, 1, 0)
        #expect(CalendarDay(of: midnight) == CalendarDay(year: 2026, month: 1, day: 1))
        #expect(CalendarDay(of: midnight.addingTimeInterval(-0.001)) == CalendarDay(year: 2025, month: 12, day: 31))
        #expect(CalendarDay(year: 2025, month: 12, day: 31).end == midnight)
    }

    /// Times before 1970 are negative.
    @Test func handlesDatesBeforeTheEpoch() {
        #expect(CalendarDay(of: localTime(1969, 7, 20, 23, 59)) == CalendarDay(year: 1969, month: 7, day: 20))
        #expect(CalendarDay(year: 1969, month: 2, day: 28).end == localTime(1969, 3, 1, 0))
    }

    /// Runs in a separate process, because the time zone is process-wide.
    @Test func followsTheTimeZone() async {
        await #expect(processExitsWith: .success) {
            // 2026-01-02 03:04:05 UTC
            let date = Date(timeIntervalSince1970: 1_767_323_045)
            for (zone, day) in [("UTC0", 2), ("AAA-14", 2), ("BBB+4", 1), ("CCC+3", 2), ("DDD-21:30", 3)] {
                setenv("TZ", zone, 1)
                tzset()
                #expect(CalendarDay(of: date) == CalendarDay(year: 2026, month: 1, day: day), "\(zone)")
            }
        }
    }

    @Test func dayLengthsFollowDaylightSavingTime() async {
        await #expect(processExitsWith: .success) {
            setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1)
            tzset()
            for (month, day, hours) in [(3, 28, 24.0), (3, 29, 23), (3, 30, 24), (10, 25, 25), (10, 26, 24)] {
                let today = CalendarDay(year: 2026, month: month, day: day)
                let start = CalendarDay(year: 2026, month: month, day: day - 1).end
                #expect(today.end.timeIntervalSince(start) == hours * 3600, "\(today)")
                #expect(CalendarDay(of: start) == today)
                #expect(RelativeDay(start, now: today.end) == .yesterday)
            }
        }
    }
}
