public import GtkKit

extension TimelineList: RecycledRows {
    public func key(ofRowWith widget: Widget) -> AnyHashable? {
        layout.realized.rows.first { $0.widget.isSame(as: widget) || $0.widget.isAncestor(of: widget) }?.key
    }

    /// Focuses a realized row without scrolling. One that is far from the viewport by now has no widget: the focus then
    /// goes to a row in view.
    public func focusRow(with key: AnyHashable) {
        guard let row = layout.realized.rows.first(where: { $0.key == key }) else { return _ = grabFocus() }
        row.setMapped(true)
        row.widget.grabFocus()
    }
}
