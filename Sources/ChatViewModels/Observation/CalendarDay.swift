public import Foundation
import Glibc

/// A day in the user's calendar and time zone.
public nonisolated struct CalendarDay: Hashable, Sendable, Comparable {
    public let year: Int
    /// 1…12
    public let month: Int
    /// 1…31
    public let day: Int

    public init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// The day of `date` in the process's time zone. Uses the C library: loading a `Calendar` with its locale data
    /// takes longer than everything else the lists do at startup.
    public init(of date: Date) {
        var seconds = time_t(date.timeIntervalSince1970.rounded(.down))
        var components = tm()
        localtime_r(&seconds, &components)
        self.init(year: Int(components.tm_year) + 1900, month: Int(components.tm_mon) + 1, day: Int(components.tm_mday))
    }

    /// The start of the next day in the process's time zone.
    public var end: Date {
        var components = tm()
        components.tm_year = Int32(clamping: year - 1900)
        components.tm_mon = Int32(clamping: month - 1)
        // `mktime` normalizes a day past the end of the month.
        components.tm_mday = Int32(clamping: day + 1)
        components.tm_isdst = -1
        return Date(timeIntervalSince1970: TimeInterval(mktime(&components)))
    }

    public static func < (a: Self, b: Self) -> Bool { (a.year, a.month, a.day) < (b.year, b.month, b.day) }

    /// Days from this day to `other`, negative if `other` is earlier (proleptic Gregorian).
    public func days(to other: CalendarDay) -> Int { other.number - number }

    /// The number of days since a fixed day.
    private var number: Int {
        // Count years from March so that the leap day is the last of its year.
        let (y, m) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
        return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day
    }
}

/// How a list names the day of a date, relative to today.
public nonisolated enum RelativeDay: Equatable, Sendable {
    case today
    case yesterday
    /// Two to six days ago; shown as the day of the week.
    case thisWeek
    /// Earlier, or in the future.
    case other(sameYear: Bool)

    public init(_ date: Date, now: Date) {
        let (day, today) = (CalendarDay(of: date), CalendarDay(of: now))
        switch day.days(to: today) {
        case 0: self = .today
        case 1: self = .yesterday
        case 2...6: self = .thisWeek
        default: self = .other(sameYear: day.year == today.year)
        }
    }
}
