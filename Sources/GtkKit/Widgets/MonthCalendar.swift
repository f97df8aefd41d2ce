import CGtk
public import Foundation

/// A calendar that shows one month, in the local time zone.
public final class MonthCalendar: Widget {
    public convenience init() {
        self.init(sinking: gtk_calendar_new())
    }

    /// Selects the day of a date.
    /// - Returns: `false` if the date is outside of the calendar.
    @discardableResult
    public func select(_ date: Date) -> Bool {
        guard let day = g_date_time_new_from_unix_local(gint64(date.timeIntervalSince1970)) else { return false }
        defer { g_date_time_unref(day) }
        shim_select_day(pointer, day)
        return true
    }

    /// The start of the selected day.
    public var selectedDay: Date? {
        guard let day = gtk_calendar_get_date(cast()) else { return nil }
        defer { g_date_time_unref(day) }
        let (year, month, date) = (
            g_date_time_get_year(day), g_date_time_get_month(day), g_date_time_get_day_of_month(day)
        )
        guard let start = g_date_time_new_local(year, month, date, 0, 0, 0) else { return nil }
        defer { g_date_time_unref(start) }
        return Date(timeIntervalSince1970: TimeInterval(g_date_time_to_unix(start)))
    }

    /// Selects another day by its distance from the selected one.
    public func moveSelection(days: Int = 0, months: Int = 0) {
        guard let day = gtk_calendar_get_date(cast()) else { return }
        defer { g_date_time_unref(day) }
        guard let next = g_date_time_add_full(day, 0, gint(months), gint(days), 0, 0, 0) else { return }
        defer { g_date_time_unref(next) }
        shim_select_day(pointer, next)
    }

    /// Calls `handler` when the user or the program selects a day.
    public func onSelect(_ handler: @escaping @MainActor () -> Void) { connect("day-selected") { _ in handler() } }
}

/// A popover with all emoji.
public final class EmojiChooser: Popover {
    public convenience init() {
        self.init(sinking: gtk_emoji_chooser_new())
    }

    public func onPick(_ handler: @escaping @MainActor (String) -> Void) {
        connect("emoji-picked") { handler($0.string(0)) }
    }
}
