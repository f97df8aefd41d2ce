import GtkKit

/// A row of the list that has a widget at present.
final class RealizedRow {
    let row: any TimelineListRow
    let kind: Int
    var index: Int
    /// The key that it is bound to.
    var key: AnyHashable
    /// From the viewport's top to the row's, in pixels with fractions, at the last layout.
    var top = 0.0
    /// In pixels, at the last layout.
    var height = 0
    /// Whether ``top`` and ``height`` say where the row is on the screen.
    var isPositioned = false
    /// Whether what it shows has changed since it was bound.
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
