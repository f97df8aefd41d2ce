import CGtk
import Foundation
import GtkKit

/// A calendar in a popover, for going to a day.
final class DayPicker {
    var onPick: ((Date) -> Void)?

    private let parent: Widget
    private let popover: Widget
    private let calendar: Widget
    private var isSetting = false

    init(parent: Widget) {
        self.parent = parent
        popover = Widget(borrowing: gtk_popover_new())
        calendar = Widget(borrowing: gtk_calendar_new())
        gtk_popover_set_child(popover.cast(), calendar.cast())
        gtk_widget_set_parent(popover.cast(), parent.cast())
        popover.setAccessibleLabel(translated("Jump to a day"))
        calendar.connect("day-selected") { [weak self] _ in self?.picked() }
    }

    isolated deinit {
        if gtk_widget_get_parent(popover.cast()) != nil { gtk_widget_unparent(popover.cast()) }
    }

    /// - Parameter date: the day to begin with; today without one.
    func open(at widget: Widget, date: Date?) {
        guard let bounds = widget.bounds(in: parent),
            let day = g_date_time_new_from_unix_local(gint64((date ?? Date()).timeIntervalSince1970))
        else { return }
        defer { g_date_time_unref(day) }
        isSetting = true
        gtk_calendar_select_day(calendar.cast(), day)
        isSetting = false
        var target = GdkRectangle(
            x: Int32(bounds.x), y: Int32(bounds.y), width: Int32(bounds.width), height: Int32(bounds.height))
        gtk_popover_set_pointing_to(popover.cast(), &target)
        gtk_popover_popup(popover.cast())
    }

    private func picked() {
        guard !isSetting, let day = gtk_calendar_get_date(calendar.cast()) else { return }
        defer { g_date_time_unref(day) }
        let (year, month, date) = (
            g_date_time_get_year(day), g_date_time_get_month(day), g_date_time_get_day_of_month(day)
        )
        guard let start = g_date_time_new_local(year, month, date, 0, 0, 0) else { return }
        defer { g_date_time_unref(start) }
        gtk_popover_popdown(popover.cast())
        onPick?(Date(timeIntervalSince1970: TimeInterval(g_date_time_to_unix(start))))
    }
}
