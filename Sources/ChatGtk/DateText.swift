import ChatViewModels
import Foundation
import GtkKit

/// Dates and times in the user's locale, with the desktop's 12- or 24-hour clock.
enum DateText {
    static func time(_ date: Date) -> String {
        // Translators: the time of day, as strftime formats it: with a 12-hour clock, and with a 24-hour clock.
        format(date, ClockFormat.desktop.isTwelveHour ? translated("%-I:%M %p") : translated("%H:%M"))
    }

    /// Returns the name of a day for dividers in the timeline.
    static func day(_ date: Date, _ day: RelativeDay) -> String {
        switch day {
        case .today: translated("Today")
        case .yesterday: translated("Yesterday")
        case .thisWeek: format(date, "%A")
        // Translators: a day of this year, as strftime formats it.
        case .other(sameYear: true): format(date, translated("%B %-d"))
        // Translators: a day of another year, as strftime formats it.
        case .other(sameYear: false): format(date, translated("%B %-d, %Y"))
        }
    }

    /// Returns the shortest unambiguous form, for lists.
    static func brief(_ date: Date, _ day: RelativeDay) -> String {
        switch day {
        case .today: time(date)
        case .yesterday: translated("Yesterday")
        case .thisWeek: format(date, "%a")
        // Translators: a day of this year, short, as strftime formats it.
        case .other(sameYear: true): format(date, translated("%b %-d"))
        case .other(sameYear: false): format(date, "%x")
        }
    }

    /// Returns the full date and time, for tooltips and assistive technology.
    static func full(_ date: Date) -> String {
        // Translators: a date with its weekday, as strftime formats it.
        let day = format(date, translated("%A, %B %-d, %Y"))
        return translated("{date}, {time}", ["date": day, "time": time(date)])
    }

    private static func format(_ date: Date, _ pattern: String) -> String {
        date.formatted(pattern: pattern).trimmingCharacters(in: .whitespaces)
    }
}

/// The state of a view that shows times: it is rendered again when the desktop's clock changes.
nonisolated struct Timed<State: Equatable & Sendable>: Equatable, Sendable {
    let state: State
    let isTwelveHour: Bool

    @MainActor init(_ state: State) {
        self.state = state
        isTwelveHour = ClockFormat.desktop.isTwelveHour
    }
}
