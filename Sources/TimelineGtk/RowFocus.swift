import CGtk
import GtkKit

/// The keyboard focus in a ``TimelineList``: arrow keys move it from row to row, the other keys scroll.
final class RowFocus {
    /// Called when an arrow key would move the focus past the first or last row. Returns whether it handled the key.
    var onLeave: ((TimelineListEdge) -> Bool)?
    /// The row that has or last had the focus.
    private var focusedKey: AnyHashable?
    /// The row to focus after the next layout, because the focused row was removed.
    private var refocusIndex: Int?
    private let list: WidgetInstance
    private let layout: RowLayout
    private let position: AnchoredPosition
    private let scroller: Scroller

    /// - Parameter list: The list's widget, which owns this object.
    init(list: WidgetInstance, layout: RowLayout, position: AnchoredPosition, scroller: Scroller) {
        self.list = list
        self.layout = layout
        self.position = position
        self.scroller = scroller
    }

    private var focused: RealizedRow? { layout.realized.rows.first(where: layout.realized.isFocused) }

    /// The index of the row that is focused or contains the focus, or `nil`.
    var focusedRow: Int? { focused?.index }

    /// Focuses the row that had the focus last if it is in view, otherwise the last focusable row in view.
    @discardableResult
    func focusVisible() -> Bool {
        guard let source = layout.source else { return false }
        let inView = layout.rowsInView
        if let focusedKey, let row = inView.first(where: { $0.key == focusedKey }) { return focus(row.index) }
        let whole = inView.filter { $0.top >= 0 && $0.bottom <= layout.viewport.height }
        for row in whole.reversed() + inView.reversed() where source.canFocus(at: row.index) {
            if focus(row.index) { return true }
        }
        return false
    }

    /// Focuses the row at an index, scrolling as little as necessary.
    @discardableResult
    func focus(_ row: Int) -> Bool {
        guard let source = layout.source, row >= 0, row < layout.index.rows, source.count == layout.index.rows,
            source.canFocus(at: row), layout.viewport.height > 0
        else { return false }
        scroller.scroll(toRow: row, at: .nearest, animated: false)
        // Realize the row now: grabbing the focus cannot wait for the next layout.
        let target = layout.measured(row, source)
        target.setMapped(true)
        focusedKey = target.key
        return target.widget.grabFocus()
    }

    /// Forgets which row had the focus.
    func forget() {
        focusedKey = nil
        refocusIndex = nil
    }

    // MARK: Removed rows

    /// Whether a row is waiting to be focused in place of one that was removed.
    var isPending: Bool { refocusIndex != nil }

    /// Remembers the focused row's index if the row is about to be removed.
    func willRemove(_ range: Range<Int>) {
        guard let focused, range.contains(focused.index) else { return }
        refocusIndex = range.lowerBound
        focusedKey = focusedKey == focused.key ? nil : focusedKey
    }

    /// After the focused row was removed, focuses the row now at its index.
    func refocus() {
        guard let row = refocusIndex else { return }
        refocusIndex = nil
        guard list.isFocus, layout.index.rows > 0 else { return }
        focus(min(row, layout.index.rows - 1))
    }

    // MARK: Keys

    func addKeys(to widget: Widget) {
        let keys = KeyController()
        keys.onPress { [weak self] in self?.handleKey($0) ?? false }
        widget.addController(keys)
    }

    private func handleKey(_ key: KeyPress) -> Bool {
        guard key.modifiers.isDisjoint(with: [.control, .shift, .alt]) else { return false }
        switch key.key {
        case GDK_KEY_Up, GDK_KEY_KP_Up: return move(.start)
        case GDK_KEY_Down, GDK_KEY_KP_Down: return move(.end)
        case GDK_KEY_Page_Up, GDK_KEY_KP_Page_Up: scroller.scrollPage(-1)
        case GDK_KEY_Page_Down, GDK_KEY_KP_Page_Down: scroller.scrollPage(1)
        case GDK_KEY_Home, GDK_KEY_KP_Home: scroller.go(to: .row(0, .start, 0))
        case GDK_KEY_End, GDK_KEY_KP_End: scroller.scrollToEnd(animated: false)
        default: return false
        }
        return true
    }

    private func move(_ edge: TimelineListEdge) -> Bool {
        guard let source = layout.source, source.count == layout.index.rows else { return false }
        guard let focused, layout.isInView(focused) else { return focusVisible() }
        // Scroll a row that is taller than the viewport to its end before leaving it.
        let page = layout.viewport.height
        let hidden = edge == .start ? -focused.top : focused.bottom - page
        if hidden > 0, Double(focused.height) > page {
            position.move(by: min(hidden, page * 0.5) * (edge == .start ? -1 : 1))
            return true
        }
        let step = edge == .start ? -1 : 1
        var row = focused.index + step
        while row >= 0, row < layout.index.rows {
            if source.canFocus(at: row) { return focus(row) }
            row += step
        }
        return onLeave?(edge) ?? true
    }

    /// Moves the focus as GTK asks: Tab into the list focuses the row that had the focus last, or the last one in view;
    /// Tab within a row moves through its widgets and then leaves the list. Only the arrow keys move between rows.
    func move(in direction: FocusDirection) -> Bool {
        guard let child = list.focusChild else { return !list.isFocus && list.grabFocus() }
        switch direction {
        case .up: return move(.start)
        case .down: return move(.end)
        default: return child.moveFocus(direction)
        }
    }
}
