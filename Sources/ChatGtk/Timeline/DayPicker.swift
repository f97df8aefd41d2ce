import CGtk
import Foundation
import GtkKit

/// A calendar in a popover for jumping to a day. Arrows, Page Up and Page Down change the day, Return and Space
/// confirm: GtkCalendar's own key bindings do not start at the selected day (GTK 4.8).
final class DayPicker {
    var onPick: ((Date) -> Void)?

    private let parent: Widget
    private let popover: Widget
    private let calendar: Widget
    private let focus = FocusRestorer()
    private var isSetting = false

    init(parent: Widget) {
        self.parent = parent
        popover = Widget(sinking: gtk_popover_new())
        calendar = Widget(sinking: gtk_calendar_new())
        gtk_popover_set_child(popover.cast(), calendar.cast())
        popover.attachPopover(to: parent)
        popover.setAccessibleLabel(translated("Jump to a day"))
        popover.connect("closed") { [weak self] _ in self?.focus.restore() }
        calendar.connect("day-selected") { [weak self] _ in self?.picked() }
        addKeys()
    }

    isolated deinit {
        if gtk_widget_get_parent(popover.cast()) != nil { gtk_widget_unparent(popover.cast()) }
    }

    /// - Parameter date: The initial day; defaults to today.
    func open(at widget: Widget, date: Date?) {
        guard let bounds = widget.bounds(in: parent),
            let day = g_date_time_new_from_unix_local(gint64((date ?? Date()).timeIntervalSince1970))
        else { return }
        defer { g_date_time_unref(day) }
        select(day)
        var target = GdkRectangle(
            x: Int32(bounds.x), y: Int32(bounds.y), width: Int32(bounds.width), height: Int32(bounds.height))
        gtk_popover_set_pointing_to(popover.cast(), &target)
        focus.save(around: parent)
        gtk_popover_popup(popover.cast())
        // Focus the days instead of the month arrows.
        calendar.grabFocus()
    }

    /// Selects a day without jumping to it.
    private func select(_ day: OpaquePointer) {
        isSetting = true
        shim_select_day(calendar.pointer, day)
        isSetting = false
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

    // MARK: Keys

    private func addKeys() {
        let keys = Object(owning: UnsafeMutableRawPointer(gtk_event_controller_key_new()))
        gtk_event_controller_set_propagation_phase(keys.cast(), GTK_PHASE_CAPTURE)
        keys.intercept("key-pressed") { [weak self] arguments in
            guard let self, self.calendar.hasFocus, arguments.flags(2) & GDK_CONTROL_MASK.rawValue == 0 else {
                return false
            }
            return self.handleKey(Int32(bitPattern: arguments.uint(0)))
        }
        calendar.addController(keys)
    }

    private func handleKey(_ key: Int32) -> Bool {
        let forward: Int32 = gtk_widget_get_direction(calendar.cast()) == GTK_TEXT_DIR_RTL ? -1 : 1
        switch key {
        case GDK_KEY_Left, GDK_KEY_KP_Left: move { g_date_time_add_days($0, -forward) }
        case GDK_KEY_Right, GDK_KEY_KP_Right: move { g_date_time_add_days($0, forward) }
        case GDK_KEY_Up, GDK_KEY_KP_Up: move { g_date_time_add_days($0, -7) }
        case GDK_KEY_Down, GDK_KEY_KP_Down: move { g_date_time_add_days($0, 7) }
        case GDK_KEY_Page_Up, GDK_KEY_KP_Page_Up: move { g_date_time_add_months($0, -1) }
        case GDK_KEY_Page_Down, GDK_KEY_KP_Page_Down: move { g_date_time_add_months($0, 1) }
        case GDK_KEY_Return, GDK_KEY_KP_Enter, GDK_KEY_space: picked()
        default: return false
        }
        return true
    }

    private func move(_ step: (OpaquePointer) -> OpaquePointer?) {
        guard let day = gtk_calendar_get_date(calendar.cast()) else { return }
        defer { g_date_time_unref(day) }
        guard let next = step(day) else { return }
        defer { g_date_time_unref(next) }
        select(next)
    }
}
