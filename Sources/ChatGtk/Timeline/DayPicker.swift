import CGtk
import Foundation
import GtkKit

/// A calendar in a popover for jumping to a day. Arrows, Page Up and Page Down change the day, Return and Space
/// confirm: GtkCalendar's own key bindings do not start at the selected day (GTK 4.8).
final class DayPicker {
    var onPick: ((Date) -> Void)?

    private let parent: Widget
    private let popover = Popover()
    private let calendar = MonthCalendar()
    private let focus: FocusRestorer
    private var isSetting = false

    /// - Parameter rows: Those of the messages, one of which may have the focus.
    init(parent: Widget, rows: any RecycledRows) {
        self.parent = parent
        focus = FocusRestorer(rows: rows)
        popover.setChild(calendar)
        popover.attachPopover(to: parent)
        popover.setAccessibleLabel(translated("Jump to Date"))
        popover.onClose { [weak self] in self?.focus.restore() }
        calendar.onSelect { [weak self] in self?.picked() }
        addKeys()
    }

    isolated deinit {
        popover.unparent()
    }

    /// - Parameter date: The initial day; defaults to today.
    func open(at widget: Widget, date: Date?) {
        guard let bounds = widget.bounds(in: parent), select({ calendar.select(date ?? Date()) }) else { return }
        popover.point(x: bounds.x, y: bounds.y, width: bounds.width, height: bounds.height)
        focus.save(around: parent)
        popover.popUp()
        // Focus the days instead of the month arrows.
        calendar.grabFocus()
    }

    /// Selects a day without jumping to it.
    private func select<R>(_ change: () -> R) -> R {
        isSetting = true
        defer { isSetting = false }
        return change()
    }

    private func picked() {
        guard !isSetting, let day = calendar.selectedDay else { return }
        popover.popDown()
        onPick?(day)
    }

    // MARK: Keys

    private func addKeys() {
        let keys = KeyController(.capture)
        keys.onPress { [weak self] key in
            guard let self, self.calendar.hasFocus, !key.modifiers.contains(.control) else {
                return false
            }
            return self.handleKey(key.key)
        }
        calendar.addController(keys)
    }

    private func handleKey(_ key: Int32) -> Bool {
        let forward = calendar.isRightToLeft ? -1 : 1
        switch key {
        case GDK_KEY_Left, GDK_KEY_KP_Left: move(days: -forward)
        case GDK_KEY_Right, GDK_KEY_KP_Right: move(days: forward)
        case GDK_KEY_Up, GDK_KEY_KP_Up: move(days: -7)
        case GDK_KEY_Down, GDK_KEY_KP_Down: move(days: 7)
        case GDK_KEY_Page_Up, GDK_KEY_KP_Page_Up: move(months: -1)
        case GDK_KEY_Page_Down, GDK_KEY_KP_Page_Down: move(months: 1)
        case GDK_KEY_Return, GDK_KEY_KP_Enter, GDK_KEY_space: picked()
        default: return false
        }
        return true
    }

    private func move(days: Int = 0, months: Int = 0) {
        select { calendar.moveSelection(days: days, months: months) }
    }
}
