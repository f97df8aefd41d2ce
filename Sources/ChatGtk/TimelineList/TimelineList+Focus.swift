import CGtk
import GtkKit

/// Keyboard focus and navigation: arrow keys move the focus from row to row, the other keys scroll.
extension TimelineList {
    func isFocused(_ row: RealizedRow) -> Bool {
        gtk_widget_get_focus_child(cast()) == row.widget.cast()
    }

    /// The index of the row that is focused or contains the focus, or `nil`.
    public var focusedRow: Int? { realized.rows.first(where: isFocused)?.index }

    /// Focuses a row, scrolling as little as necessary.
    /// - Returns: `false` if there is no such row or it is not focusable.
    @discardableResult
    public func focus(_ key: AnyHashable) -> Bool {
        guard let row = source?.index(of: key) else { return false }
        return focus(row: row)
    }

    /// Focuses the row that had the focus last if it is in view, otherwise the last focusable row in view.
    @discardableResult
    public func focusVisible() -> Bool {
        guard let source else { return false }
        let inView = realized.rows.filter(isInView)
        if let focusedKey, let row = inView.first(where: { $0.key == focusedKey }) { return focus(row: row.index) }
        let whole = inView.filter { $0.top >= 0 && $0.bottom <= viewport.height }
        for row in whole.reversed() + inView.reversed() where source.canFocus(at: row.index) {
            if focus(row: row.index) { return true }
        }
        return false
    }

    @discardableResult
    func focus(row: Int) -> Bool {
        guard let source, row >= 0, row < index.rows, source.count == index.rows, source.canFocus(at: row),
            viewport.height > 0
        else { return false }
        scroll(toRow: row, at: .nearest, animated: false)
        // Realize the row now: grabbing the focus cannot wait for the next layout.
        let target = measured(row, source)
        gtk_widget_set_child_visible(target.widget.cast(), 1)
        focusedKey = target.key
        return target.widget.grabFocus()
    }

    /// After the focused row was removed, focuses the row now at its index.
    func refocus() {
        guard let row = refocusIndex else { return }
        refocusIndex = nil
        guard gtk_widget_is_focus(cast()) != 0, index.rows > 0 else { return }
        focus(row: min(row, index.rows - 1))
    }

    // MARK: Keys

    func addKeys() {
        let keys = Object(owning: UnsafeMutableRawPointer(gtk_event_controller_key_new()))
        keys.intercept("key-pressed") { [weak self] arguments in
            self?.handleKey(Int32(bitPattern: arguments.uint(0)), arguments.flags(2)) ?? false
        }
        widget.addController(keys)
    }

    private func handleKey(_ key: Int32, _ modifiers: UInt32) -> Bool {
        let others = GDK_CONTROL_MASK.rawValue | GDK_SHIFT_MASK.rawValue | GDK_ALT_MASK.rawValue
        guard modifiers & others == 0 else { return false }
        switch key {
        case GDK_KEY_Up, GDK_KEY_KP_Up: return moveFocus(.start)
        case GDK_KEY_Down, GDK_KEY_KP_Down: return moveFocus(.end)
        case GDK_KEY_Page_Up, GDK_KEY_KP_Page_Up: scrollPage(-1)
        case GDK_KEY_Page_Down, GDK_KEY_KP_Page_Down: scrollPage(1)
        case GDK_KEY_Home, GDK_KEY_KP_Home: scrollToStart()
        case GDK_KEY_End, GDK_KEY_KP_End: scrollToEnd()
        default: return false
        }
        return true
    }

    /// Scrolls by 90% of the viewport per page, which leaves some overlap. The focus stays on its row.
    /// - Parameter pages: Negative to scroll up.
    public func scrollPage(_ pages: Double) {
        scroll(by: pages * 0.9 * viewport.height)
    }

    private func moveFocus(_ edge: TimelineListEdge) -> Bool {
        guard let source, source.count == index.rows else { return false }
        guard let focused = realized.rows.first(where: isFocused), isInView(focused) else { return focusVisible() }
        // Scroll a row that is taller than the viewport to its end before leaving it.
        let hidden = edge == .start ? -focused.top : focused.bottom - viewport.height
        if hidden > 0, Double(focused.height) > viewport.height {
            move(by: min(hidden, viewport.height * 0.5) * (edge == .start ? -1 : 1))
            return true
        }
        let step = edge == .start ? -1 : 1
        var row = focused.index + step
        while row >= 0, row < index.rows {
            if source.canFocus(at: row) { return focus(row: row) }
            row += step
        }
        return onFocusLeaves?(edge) ?? true
    }

    // MARK: Tab

    /// Overrides GTK's focus handling. Tab into the list focuses the row that had the focus last, or the last one in
    /// view; Tab within a row moves through its widgets and then leaves the list. Only the arrow keys move between
    /// rows.
    static func overrideFocus(_ widgetClass: UnsafeMutablePointer<GtkWidgetClass>) {
        widgetClass.pointee.focus = { widget, direction in
            nonisolated(unsafe) let widget = widget
            return MainActor.assumeIsolated {
                guard let widget, let list = TimelineList.of(Widget(borrowing: widget)) else { return gboolean(0) }
                return list.moveFocus(in: direction) ? 1 : 0
            }
        }
        widgetClass.pointee.grab_focus = { widget in
            nonisolated(unsafe) let widget = widget
            return MainActor.assumeIsolated {
                guard let widget, let list = TimelineList.of(Widget(borrowing: widget)) else { return gboolean(0) }
                if list.focusVisible() { return 1 }
                gtk_root_set_focus(gtk_widget_get_root(widget), widget)
                return 1
            }
        }
    }

    private func moveFocus(in direction: GtkDirectionType) -> Bool {
        guard let child = gtk_widget_get_focus_child(cast()) else {
            return gtk_widget_is_focus(cast()) == 0 && gtk_widget_grab_focus(cast()) != 0
        }
        switch direction {
        case GTK_DIR_UP: return moveFocus(.start)
        case GTK_DIR_DOWN: return moveFocus(.end)
        default: return gtk_widget_child_focus(child, direction) != 0
        }
    }
}
