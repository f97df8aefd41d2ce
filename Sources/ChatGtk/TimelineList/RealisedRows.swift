import CGtk
import GtkKit

/// The rows of a list that have widgets, in order, and widgets waiting to be used again.
///
/// Their widgets are children of the list in the order of the rows, which is the order in which assistive technology
/// reads them. Widgets out of use are invisible children after them: it skips those.
final class RealisedRows {
    private let list: UnsafeMutableRawPointer
    private(set) var rows: [RealisedRow] = []
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
    var alive: Int { rows.count + pooled }

    subscript(index: Int) -> RealisedRow? {
        let place = place(of: index)
        return place < rows.count && rows[place].index == index ? rows[place] : nil
    }

    /// The first place in ``rows`` whose row is not before `index`.
    func place(of index: Int) -> Int {
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if rows[middle].index < index { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: Making and letting go

    /// The row at `index` with a widget that shows its present content.
    func realise(_ index: Int, from source: any TimelineListSource) -> RealisedRow {
        let place = place(of: index)
        if place < rows.count, rows[place].index == index {
            let realised = rows[place]
            guard realised.isStale else { return realised }
            if realised.kind == source.kind(at: index) {
                bind(realised, from: source)
                return realised
            }
            release(at: place, from: source)
        }
        let kind = source.kind(at: index)
        let realised = RealisedRow(
            row: reused(kind) ?? source.makeRow(kind: kind), kind: kind, index: index, key: source.key(at: index))
        adopt(realised, after: place > 0 ? rows[place - 1] : nil)
        rows.insert(realised, at: place)
        bind(realised, from: source)
        gtk_widget_set_visible(realised.widget.cast(), 1)
        return realised
    }

    /// Takes rows out of use that `keep` does not want.
    func release(from source: (any TimelineListSource)?, unless keep: (RealisedRow) -> Bool) {
        guard rows.contains(where: { !keep($0) }) else { return }
        var kept: [RealisedRow] = []
        kept.reserveCapacity(rows.count)
        for row in rows {
            if keep(row) { kept.append(row) } else { putAway(row, from: source) }
        }
        rows = kept
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

    private func bind(_ realised: RealisedRow, from source: any TimelineListSource) {
        realised.isStale = false
        realised.key = source.key(at: realised.index)
        bindings += 1
        source.bind(realised.row, at: realised.index)
    }

    private func release(at place: Int, from source: any TimelineListSource) {
        putAway(rows.remove(at: place), from: source)
    }

    private func putAway(_ realised: RealisedRow, from source: (any TimelineListSource)?) {
        // GTK would give the focus to whatever comes next.
        if gtk_widget_get_focus_child(list.assumingMemoryBound(to: GtkWidget.self)) == realised.widget.cast() {
            gtk_root_set_focus(
                gtk_widget_get_root(realised.widget.cast()), list.assumingMemoryBound(to: GtkWidget.self))
        }
        // Not only child-invisible: assistive technology would still find it.
        gtk_widget_set_visible(realised.widget.cast(), 0)
        source?.unbind(realised.row)
        pool[realised.kind, default: []].append(realised.row)
        pooled += 1
    }

    private func reused(_ kind: Int) -> (any TimelineListRow)? {
        guard let row = pool[kind]?.popLast() else { return nil }
        pooled -= 1
        return row
    }

    private func adopt(_ realised: RealisedRow, after previous: RealisedRow?) {
        let widget = realised.widget
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
    func renumber(from source: (any TimelineListSource)?, _ index: (RealisedRow) -> Int?) {
        var places: [ObjectIdentifier: Int] = [:]
        var taken: Set<Int> = []
        for row in rows {
            if let place = index(row), taken.insert(place).inserted { places[ObjectIdentifier(row)] = place }
        }
        release(from: source) { places[ObjectIdentifier($0)] != nil }
        for row in rows { row.index = places[ObjectIdentifier(row)] ?? row.index }
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
