import GtkKit

/// A row that currently has a widget.
final class RealizedRow {
    let row: any TimelineListRow
    let kind: Int
    var index: Int
    /// The key of the item it is bound to.
    var key: AnyHashable
    /// The distance from the viewport's top to the row's top at the last layout, in fractional pixels.
    var top = 0.0
    /// The height at the last layout, in pixels.
    var height = 0
    /// Whether ``top`` and ``height`` are the row's position on screen.
    var isPositioned = false
    /// Whether the item has changed since the row was bound.
    var isStale = false

    init(row: any TimelineListRow, kind: Int, index: Int, key: AnyHashable) {
        self.row = row
        self.kind = kind
        self.index = index
        self.key = key
    }

    var widget: Widget { row.widget }
    var bottom: Double { top + Double(height) }

    func position(at top: Double) {
        self.top = top
        isPositioned = true
    }

    func position(endingAt bottom: Double) { position(at: bottom - Double(height)) }

    // MARK: The widget

    /// Measures the row's height for a width in pixels.
    func measure(width: Int) {
        height = widget.measure(.vertical, for: possibleWidth(width)).natural
    }

    /// Allocates the widget, and rounds its position to device pixels. Rows that adjoin have the same fraction of a
    /// pixel, and so adjoin after rounding.
    func allocate(x: Int, width: Int, scale: Double) {
        let y = (top * scale).rounded() / scale
        widget.allocate(x: Double(x), y: y, width: possibleWidth(width), height: height)
    }

    /// Whether GTK considers the pointer to be over the row, which it updates only some time after a scroll. If the row
    /// is unmapped before that, the whole window loses and regains the hover state and is restyled twice.
    var hasPointer: Bool { widget.isChildVisible && widget.stateFlags.contains(.prelight) }

    /// Shows the widget in the list, or hides it.
    func setMapped(_ isMapped: Bool) {
        if widget.isChildVisible != isMapped { widget.isChildVisible = isMapped }
    }

    /// At least the row's minimum width: the list may clip a row, but GTK forbids allocating it less than its minimum.
    private func possibleWidth(_ width: Int) -> Int { max(widget.measure(.horizontal).minimum, width) }
}
