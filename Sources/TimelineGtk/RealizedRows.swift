import CGtk
import GtkKit

/// The rows of a list that have widgets, in order, and a pool of widgets for reuse.
///
/// Row widgets are children of the list in row order, because assistive technology reads them in child order. Pooled
/// widgets are invisible children, which it skips.
final class RealizedRows {
    private let list: UnsafeMutableRawPointer
    private(set) var rows: [RealizedRow] = []
    private var pool: [Int: [any TimelineListRow]] = [:]
    private(set) var pooled = 0
    /// The number of bindings so far, for tests and benchmarks.
    private(set) var bindings = 0
    /// The number of row widgets created, for tests and benchmarks.
    private(set) var made = 0

    /// - Parameter list: The parent widget of all rows, which owns this object.
    init(list: UnsafeMutableRawPointer) {
        self.list = list
    }

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
    func isFocused(_ row: RealizedRow) -> Bool {
        gtk_widget_get_focus_child(list.assumingMemoryBound(to: GtkWidget.self)) == row.widget.cast()
    }

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
        gtk_widget_set_visible(realized.widget.cast(), 1)
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
            if let row = pool[kind]?.popLast() { gtk_widget_unparent(row.widget.cast()) }
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
    }

    private func release(at position: Int, from source: any TimelineListSource) {
        putAway(rows.remove(at: position), from: source)
    }

    private func putAway(_ realized: RealizedRow, from source: (any TimelineListSource)?) {
        // Otherwise GTK moves the focus to the next widget.
        if isFocused(realized) {
            gtk_root_set_focus(
                gtk_widget_get_root(realized.widget.cast()), list.assumingMemoryBound(to: GtkWidget.self))
        }
        // Child-invisible is not enough: assistive technology would still find the widget.
        gtk_widget_set_visible(realized.widget.cast(), 0)
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
        let parent = list.assumingMemoryBound(to: GtkWidget.self)
        // Not mapped until `show()`: rows that are measured ahead must not be drawn.
        gtk_widget_set_child_visible(widget.cast(), 0)
        if gtk_widget_get_parent(widget.cast()) == nil {
            made += 1
            shim_default_role(widget.pointer, GTK_ACCESSIBLE_ROLE_LIST_ITEM)
            gtk_widget_set_visible(widget.cast(), 0)
        } else if gtk_widget_get_prev_sibling(widget.cast()) == previous?.widget.cast() {
            return
        }
        gtk_widget_insert_after(widget.cast(), parent, previous?.widget.cast())
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
        var previous: Widget?
        for row in rows {
            if gtk_widget_get_prev_sibling(row.widget.cast()) != previous?.cast() {
                gtk_widget_insert_after(
                    row.widget.cast(), list.assumingMemoryBound(to: GtkWidget.self), previous?.cast())
            }
            previous = row.widget
        }
    }
}
