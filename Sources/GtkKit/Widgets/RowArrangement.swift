/// A row of a list that changes while it is displayed.
public protocol ArrangedRow {
    associatedtype ID: Equatable
    associatedtype RowWidget: Widget

    /// What the row stands for. A row that is made anew has the ID of the one before.
    var id: ID { get }
    var widget: RowWidget { get }
    /// Focuses the row, or the control in it that is used most.
    func grabFocus()
}

/// A list of rows, to which rows can only be added at the end.
public protocol RowContainer: Widget {
    func append(_ row: Widget)
    func remove(_ row: Widget)
}

extension ListBox: RowContainer {}
extension FlowBox: RowContainer {}
extension PreferencesGroup: RowContainer {
    public func append(_ row: Widget) { add(row) }
}

extension RowContainer {
    /// Adds, removes and moves rows. A row that stays has the keyboard focus afterwards if it had it before, and so does
    /// one that was made anew. The focus of a removed row goes to the next, or else to the last.
    /// - Parameters:
    ///   - former: the rows that were arranged before.
    ///   - other: what gets the focus if no row is left.
    public func arrange<Row: ArrangedRow>(_ rows: [Row], replacing former: [Row], or other: Widget? = nil) {
        let unmoved = zip(former, rows).prefix { $0.widget.isSame(as: $1.widget) }.count
        let focus = root?.focus
        let focused = focus.flatMap { focus in
            former[unmoved...].firstIndex { $0.widget.isSame(as: focus) || $0.widget.isAncestor(of: focus) }
        }
        for row in former[unmoved...] { remove(row.widget) }
        for row in rows[unmoved...] { append(row.widget) }
        guard let focused else { return }
        let remaining = former[focused...].lazy.compactMap { row in rows.first { $0.id == row.id } }.first
        guard let next = remaining ?? (rows.indices.contains(focused) ? rows[focused] : rows.last) else {
            other?.grabFocus()
            return
        }
        if next.widget.isSame(as: former[focused].widget) { focus?.grabFocus() } else { next.grabFocus() }
    }
}
