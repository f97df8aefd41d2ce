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
}
