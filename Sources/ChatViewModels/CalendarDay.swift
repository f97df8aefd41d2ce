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

    /// The day of `date` in the process's time zone. Asks the C library: loading a calendar with its locale data
    /// would cost more at start than all else the lists do.
    public init(of date: Date) {
        var seconds = time_t(date.timeIntervalSince1970.rounded(.down))
        var components = tm()
        localtime_r(&seconds, &components)
        self.init(year: Int(components.tm_year) + 1900, month: Int(components.tm_mon) + 1, day: Int(components.tm_mday))
    }

    /// The moment at which the next day begins, in the process's time zone.
    public var end: Date {
        var components = tm()
        components.tm_year = Int32(clamping: year - 1900)
        components.tm_mon = Int32(clamping: month - 1)
        // The C library carries a day that the month does not have over into the next one.
        components.tm_mday = Int32(clamping: day + 1)
        components.tm_isdst = -1
        return Date(timeIntervalSince1970: TimeInterval(mktime(&components)))
    }

    public static func < (a: Self, b: Self) -> Bool { (a.year, a.month, a.day) < (b.year, b.month, b.day) }

    /// Days from this day to `other`, negative if `other` is earlier (proleptic Gregorian).
    public func days(to other: CalendarDay) -> Int { other.number - number }

    /// Days since an arbitrary day.
    private var number: Int {
        // Count years from March so that the leap day is the last of its year.
        let (y, m) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
        return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day
    }
}

/// How near a moment is to now, which decides how a list names it.
public nonisolated enum RelativeDay: Equatable, Sendable {
    case today
    case yesterday
    /// Two to six days ago: the name of the week day tells it.
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
