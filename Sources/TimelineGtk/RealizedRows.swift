import CGtk
import GtkKit

/// The rows of a list that have widgets, in order, and a pool of widgets for reuse.
///
/// Row widgets are children of the list in row order, because assistive technology reads them in child order, and
/// pooled widgets are invisible children, which it skips. Both hold once the list rests, see ``ChildOrder``.
final class RealizedRows {
    private let list: WidgetInstance
    let order = ChildOrder()
    private(set) var rows: [RealizedRow] = []
    private var pool: [Int: [any TimelineListRow]] = [:]
    private(set) var pooled = 0
    /// The number of bindings so far, for tests and benchmarks.
    private(set) var bindings = 0
    /// The number of row widgets created, for tests and benchmarks.
    private(set) var made = 0

    /// - Parameter list: The parent widget of all rows, which owns this object.
    init(list: WidgetInstance) {
        self.list = list
        order.onRest = { [weak self] in self?.restoreOrder() }
    }

    /// Whether the widgets are in row order and pooled ones are invisible.
    var isInOrder: Bool { !order.isPending }

    /// The number of row widgets, in use or pooled.
    var widgetCount: Int { rows.count + pooled }

    subscript(index: Int) -> RealizedRow? {
        let position = lowerBound(of: index)
        return position < rows.count && rows[position].index == index ? rows[position] : nil
    }

    /// The first position in ``rows`` whose row index is not less than `index`.
    func lowerBound(of index: Int) -> Int {
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if rows[middle].index < index { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Whether the row is focused or contains the focus.
    func isFocused(_ row: RealizedRow) -> Bool { list.hasFocusChild(row.widget) }

    // MARK: Realizing and releasing

    /// Returns the row at `index`, with a widget bound to its current content.
    func realize(_ index: Int, from source: any TimelineListSource) -> RealizedRow {
        let position = lowerBound(of: index)
        if position < rows.count, rows[position].index == index {
            let realized = rows[position]
            guard realized.isStale else { return realized }
            if realized.kind == source.kind(at: index) {
                bind(realized, from: source)
                return realized
            }
            release(at: position, from: source)
        }
        let kind = source.kind(at: index)
        let realized = RealizedRow(
            row: reused(kind) ?? source.makeRow(kind: kind), kind: kind, index: index, key: source.key(at: index))
        adopt(realized, after: position > 0 ? rows[position - 1] : nil)
        rows.insert(realized, at: position)
        bind(realized, from: source)
        if !realized.widget.isVisible { realized.widget.isVisible = true }
        return realized
    }

    /// Moves the rows that `shouldKeep` rejects to the pool.
    func release(from source: (any TimelineListSource)?, unless shouldKeep: (RealizedRow) -> Bool) {
        guard rows.contains(where: { !shouldKeep($0) }) else { return }
        var retained: [RealizedRow] = []
        retained.reserveCapacity(rows.count)
        for row in rows {
            if shouldKeep(row) { retained.append(row) } else { putAway(row, from: source) }
        }
        rows = retained
    }

    /// Destroys pooled widgets until at most `limit` are left.
    func trimPool(to limit: Int) {
        while pooled > limit, let kind = pool.max(by: { $0.value.count < $1.value.count })?.key {
            pool[kind]?.popLast()?.widget.unparent()
            pooled -= 1
        }
    }

    /// Destroys all row widgets, in use or pooled.
    func removeAll(from source: (any TimelineListSource)?) {
        release(from: source) { _ in false }
        trimPool(to: 0)
        pool = [:]
    }

    private func bind(_ realized: RealizedRow, from source: any TimelineListSource) {
        realized.isStale = false
        realized.key = source.key(at: realized.index)
        bindings += 1
        source.bind(realized.row, at: realized.index)
        // GTK 4.8 skips a row that needs no allocation itself, along with parts that requested one during the layout.
        realized.widget.queueAllocate()
    }

    private func release(at position: Int, from source: any TimelineListSource) {
        putAway(rows.remove(at: position), from: source)
    }

    private func putAway(_ realized: RealizedRow, from source: (any TimelineListSource)?) {
        // Otherwise GTK moves the focus to the next widget.
        if isFocused(realized) { realized.widget.root?.focus = list.widget }
        realized.widget.isChildVisible = false
        order.disturb()
        source?.unbind(realized.row)
        pool[realized.kind, default: []].append(realized.row)
        pooled += 1
    }

    private func reused(_ kind: Int) -> (any TimelineListRow)? {
        guard let row = pool[kind]?.popLast() else { return nil }
        pooled -= 1
        return row
    }

    private func adopt(_ realized: RealizedRow, after previous: RealizedRow?) {
        let widget = realized.widget
        // Not mapped until `show()`: rows that are measured ahead must not be drawn.
        widget.isChildVisible = false
        if widget.parent == nil {
            made += 1
            widget.setDefaultRole(GTK_ACCESSIBLE_ROLE_LIST_ITEM)
            widget.isVisible = false
            // A new widget has no style yet, so inserting it in order restyles little.
            widget.insert(into: list, after: previous?.widget)
        }
        if !widget.isNext(after: previous?.widget) { order.disturb() }
    }

    // MARK: Order

    /// Stops restoring the order.
    func stopOrdering() { order.stop() }

    private func restoreOrder() {
        // Child-invisible is not enough: assistive technology would still find the widget.
        for row in pool.values.joined() where row.widget.isVisible { row.widget.isVisible = false }
        let stays = ChildOrder.staying(list.positions(of: rows.map(\.widget)))
        var previous: Widget?
        for (row, stays) in zip(rows, stays) {
            if !stays { row.widget.insert(into: list, after: previous) }
            previous = row.widget
        }
    }

    // MARK: Index changes

    func inserted(_ count: Int, at index: Int) {
        for row in rows where row.index >= index { row.index += count }
    }

    /// - Precondition: The rows in `range` have been released.
    func removed(_ range: Range<Int>) {
        for row in rows where row.index >= range.upperBound { row.index -= range.count }
    }

    /// Assigns new indices, and releases the rows for which `index` returns `nil`.
    func renumber(from source: (any TimelineListSource)?, _ index: (RealizedRow) -> Int?) {
        var newIndexes: [ObjectIdentifier: Int] = [:]
        var usedIndexes: Set<Int> = []
        for row in rows {
            if let newIndex = index(row), usedIndexes.insert(newIndex).inserted {
                newIndexes[ObjectIdentifier(row)] = newIndex
            }
        }
        release(from: source) { newIndexes[ObjectIdentifier($0)] != nil }
        for row in rows { row.index = newIndexes[ObjectIdentifier(row)] ?? row.index }
        rows.sort { $0.index < $1.index }
        order.disturb()
    }
}
