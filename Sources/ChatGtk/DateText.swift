import ChatViewModels
import Foundation
import GtkKit

/// Dates and times in the user's locale.
enum DateText {
    static func time(_ date: Date) -> String {
        // Translators: the time of day, as strftime formats it.
        format(date, translated("%H:%M"))
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
    static func full(_ date: Date) -> String { format(date, "%c") }

    private static func format(_ date: Date, _ pattern: String) -> String {
        date.formatted(pattern: pattern).trimmingCharacters(in: .whitespaces)
    }
}
