public import ChatCore
public import Foundation

/// Dates and times in the user's language, with the desktop's 12- or 24-hour clock.
public struct DateText {
    private let translator: Translator
    private let isTwelveHour: () -> Bool
    private let strftime: (Date, String) -> String

    /// - Parameters:
    ///   - isTwelveHour: whether the clock has twelve hours. Called each time, as the setting may change.
    ///   - strftime: formats a date like the C function, in the user's locale and time zone.
    public init(
        _ translator: Translator, isTwelveHour: @escaping () -> Bool, strftime: @escaping (Date, String) -> String
    ) {
        self.translator = translator
        self.isTwelveHour = isTwelveHour
        self.strftime = strftime
    }

    public func time(_ date: Date) -> String {
        // Translators: the time of day, as strftime formats it: with a 12-hour clock, and with a 24-hour clock.
        format(date, isTwelveHour() ? translator("%-I:%M %p") : translator("%H:%M"))
    }

    /// Returns the name of a day for dividers in the timeline.
    public func day(_ date: Date, _ day: RelativeDay) -> String {
        switch day {
        case .today: translator("Today")
        case .yesterday: translator("Yesterday")
        case .thisWeek: format(date, "%A")
        // Translators: a day of this year, as strftime formats it.
        case .other(sameYear: true): format(date, translator("%B %-d"))
        // Translators: a day of another year, as strftime formats it.
        case .other(sameYear: false): format(date, translator("%B %-d, %Y"))
        }
    }

    /// Returns the shortest unambiguous form, for lists.
    public func brief(_ date: Date, _ day: RelativeDay) -> String {
        switch day {
        case .today: time(date)
        case .yesterday: translator("Yesterday")
        case .thisWeek: format(date, "%a")
        // Translators: a day of this year, short, as strftime formats it.
        case .other(sameYear: true): format(date, translator("%b %-d"))
        case .other(sameYear: false): format(date, "%x")
        }
    }

    /// Returns the full date and time, for tooltips and assistive technology.
    public func full(_ date: Date) -> String {
        // Translators: a date with its weekday, as strftime formats it.
        let day = format(date, translator("%A, %B %-d, %Y"))
        return translator("{date}, {time}", ["date": day, "time": time(date)])
    }

    /// Some locales pad hours and days with a space.
    private func format(_ date: Date, _ pattern: String) -> String {
        strftime(date, pattern).trimmingCharacters(in: .whitespaces)
    }
}
