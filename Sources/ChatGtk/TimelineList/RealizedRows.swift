import CGtk
import GtkKit

/// The rows of a list that have widgets, in order, and widgets waiting to be used again.
///
/// Their widgets are children of the list in the order of the rows, which is the order in which assistive technology
/// reads them. Widgets out of use are invisible children after them: it skips those.
final class RealizedRows {
    private let list: UnsafeMutableRawPointer
    private(set) var rows: [RealizedRow] = []
    private var pool: [Int: [any TimelineListRow]] = [:]
    private(set) var pooled = 0
    /// How often a row was bound, for tests and benchmarks.
    private(set) var bindings = 0
    /// How many row widgets were made, for tests and benchmarks.
    private(set) var made = 0

    /// - Parameter list: the parent of all rows, which owns this.
    init(list: UnsafeMutableRawPointer) {
        self.list = list
    }

    /// How many row widgets exist.
    var widgetCount: Int { rows.count + pooled }

    subscript(index: Int) -> RealizedRow? {
        let position = lowerBound(of: index)
        return position < rows.count && rows[position].index == index ? rows[position] : nil
    }

    /// The first place in ``rows`` whose row is not before `index`.
    func lowerBound(of index: Int) -> Int {
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if rows[middle].index < index { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: Making and letting go

    /// The row at `index` with a widget that shows its present content.
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

    /// Takes rows out of use that `shouldKeep` does not want.
    func release(from source: (any TimelineListSource)?, unless shouldKeep: (RealizedRow) -> Bool) {
        guard rows.contains(where: { !shouldKeep($0) }) else { return }
        var retained: [RealizedRow] = []
        retained.reserveCapacity(rows.count)
        for row in rows {
            if shouldKeep(row) { retained.append(row) } else { putAway(row, from: source) }
        }
        rows = retained
    }

    /// Destroys widgets out of use until at most `limit` are left.
    func trimPool(to limit: Int) {
        while pooled > limit, let kind = pool.max(by: { $0.value.count < $1.value.count })?.key {
            if let row = pool[kind]?.popLast() { gtk_widget_unparent(row.widget.cast()) }
            pooled -= 1
        }
    }

    /// Destroys all row widgets, in use or not.
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
        // GTK would give the focus to whatever comes next.
        if gtk_widget_get_focus_child(list.assumingMemoryBound(to: GtkWidget.self)) == realized.widget.cast() {
            gtk_root_set_focus(
                gtk_widget_get_root(realized.widget.cast()), list.assumingMemoryBound(to: GtkWidget.self))
        }
        // Not only child-invisible: assistive technology would still find it.
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
        // Rows that are measured ahead of time are not mapped, and so draw nothing.
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

    // MARK: Changes of the rows' numbers

    func inserted(_ count: Int, at index: Int) {
        for row in rows where row.index >= index { row.index += count }
    }

    /// Rows in `range` must have been let go.
    func removed(_ range: Range<Int>) {
        for row in rows where row.index >= range.upperBound { row.index -= range.count }
    }

    /// Gives rows new places: those for which `index` answers nil are let go.
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
