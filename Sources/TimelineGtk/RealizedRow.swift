import CGtk
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
        var natural: Int32 = 0
        gtk_widget_measure(
            widget.cast(), GTK_ORIENTATION_VERTICAL, possibleWidth(width), nil, &natural, nil, nil)
        height = Int(natural)
    }

    /// Allocates the widget, and rounds its position to device pixels. Rows that adjoin have the same fraction of a
    /// pixel, and so adjoin after rounding.
    func allocate(x: Int, width: Int, scale: Double) {
        var point = graphene_point_t(x: Float(x), y: Float((top * scale).rounded() / scale))
        gtk_widget_allocate(
            widget.cast(), possibleWidth(width), Int32(height), -1, gsk_transform_translate(nil, &point))
    }

    /// Shows the widget in the list, or hides it.
    func setMapped(_ isMapped: Bool) {
        guard (gtk_widget_get_child_visible(widget.cast()) != 0) != isMapped else { return }
        gtk_widget_set_child_visible(widget.cast(), isMapped ? 1 : 0)
    }

    /// At least the row's minimum width: the list may clip a row, but GTK forbids allocating it less than its minimum.
    private func possibleWidth(_ width: Int) -> Int32 {
        var minimum: Int32 = 0
        gtk_widget_measure(widget.cast(), GTK_ORIENTATION_HORIZONTAL, -1, &minimum, nil, nil, nil)
        return max(minimum, Int32(width))
    }
}
