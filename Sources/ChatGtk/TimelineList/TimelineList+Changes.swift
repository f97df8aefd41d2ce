import CGtk
import GtkKit

/// Change notifications from the source.
extension TimelineList {
    // MARK: Changes

    /// Reports that the source has inserted `count` rows at `index`. The index is clamped to the existing rows.
    public func insert(at index: Int, count: Int) {
        guard count > 0 else { return }
        let index = min(max(0, index), self.index.rows)
        stayAtEnd()
        self.index.insert(count, at: index)
        realized.inserted(count, at: index)
        switch anchor {
        case .row(let row, let edge, let offset) where row >= index && row != .max:
            anchor = .row(row + count, edge, offset)
        case .center(let row) where row >= index: anchor = .center(row + count)
        default: break
        }
        thumb.release()
        queueLayout()
    }

    /// Reports that the source has removed `count` rows at `index`. The range is clamped to the existing rows.
    public func remove(at index: Int, count: Int) {
        let range = (max(0, index)..<max(0, index, index + count)).clamped(to: 0..<self.index.rows)
        guard !range.isEmpty else { return }
        moveAnchor(outOf: range)
        if let focused = realized.rows.first(where: { range.contains($0.index) && isFocused($0) }) {
            refocusIndex = range.lowerBound
            focusedKey = focusedKey == focused.key ? nil : focusedKey
        }
        realized.release(from: source) { !range.contains($0.index) }
        realized.removed(range)
        self.index.remove(range)
        thumb.release()
        queueLayout()
    }

    /// Reports that the content of these rows has changed while their keys have not.
    public func update(at index: Int, count: Int = 1) {
        let range = index..<(index + max(0, count))
        for row in realized.rows where range.contains(row.index) { row.isStale = true }
        queueLayout()
    }

    /// Reports that anything may have changed. The scroll position is preserved if the anchor's row, or another row in
    /// view, still exists.
    public func reset() {
        let count = max(0, source?.count ?? 0)
        let survivor = anchorSurvivingReset()
        realized.renumber(from: source) { [source] row in
            guard let newIndex = source?.index(of: row.key), newIndex < count else { return nil }
            return newIndex
        }
        index.reset(rows: count)
        for row in realized.rows { row.isStale = true }
        if let survivor {
            anchor = survivor
        } else if case .row(let row, let edge, let offset) = anchor, row != .max {
            anchor = .row(min(row, max(0, count - 1)), edge, offset)
        } else if case .center(let row) = anchor {
            anchor = .center(min(row, max(0, count - 1)))
        }
        paging.reset()
        thumb.release()
        queueLayout()
    }

    // MARK: Paging

    /// The edges at which the source can load more rows. Empty by default.
    public var moreRows: Set<TimelineListEdge> {
        get { paging.more }
        set {
            paging.more = newValue
            gtk_widget_queue_allocate(cast())
        }
    }

    /// Reports that the rows requested by ``onNeedsMore`` have arrived, or that loading has failed.
    public func finishedLoading(_ edge: TimelineListEdge, hasMore: Bool) {
        paging.finished(edge, hasMore: hasMore)
        gtk_widget_queue_allocate(cast())
    }

    // MARK: The anchor

    /// Anchors to the end if less than half a pixel from it, consistently with ``isAtEnd``.
    private func stayAtEnd() {
        guard followsEnd, isAtEnd, animation == nil, anchor != .end, index.rows > 0 else { return }
        if isInverted || viewport.extent.above > 0 { anchor = .end }
    }

    /// If the anchor's row is in `range`, which is about to be removed, moves the anchor to a remaining row without
    /// moving that row.
    private func moveAnchor(outOf range: Range<Int>) {
        let row: Int
        switch anchor {
        case .end: return
        case .row(let anchored, _, _), .center(let anchored): row = anchored
        }
        guard row >= range.lowerBound, row != .max else { return }
        guard range.contains(row) else {
            switch anchor {
            case .row(_, let edge, let offset): anchor = .row(row - range.count, edge, offset)
            case .center: anchor = .center(row - range.count)
            case .end: break
            }
            return
        }
        let others = realized.rows.filter { $0.isPositioned && !range.contains($0.index) }
        let inView = others.filter { $0.bottom > 0 && $0.top < viewport.height }
        let later = { (rows: [RealizedRow]) in rows.first { $0.index >= range.upperBound } }
        let earlier = { (rows: [RealizedRow]) in rows.last { $0.index < range.lowerBound } }
        let rest = index.rows - range.count
        if let next = later(inView) ?? earlier(inView) ?? later(others) ?? earlier(others) {
            anchor = held(next)
            if next.index >= range.upperBound, case .row(let row, let edge, let offset) = anchor {
                anchor = .row(row - range.count, edge, offset)
            }
        } else if case .row(_, let edge, let offset) = anchor {
            anchor = .row(max(0, min(range.lowerBound, rest - 1)), edge, offset)
        } else {
            anchor = .center(max(0, min(range.lowerBound, rest - 1)))
        }
        displacement = 0
        animation = nil
    }

    /// Returns the anchor with its row's new index, or one for the nearest row in view that still exists.
    private func anchorSurvivingReset() -> Anchor? {
        guard anchor != .end, let source else { return nil }
        let positionedRows = realized.rows.filter { $0.isPositioned && $0.bottom > 0 && $0.top < viewport.height }
        let anchored: Int
        switch anchor {
        case .row(let row, _, _), .center(let row): anchored = row
        case .end: return nil
        }
        for row in positionedRows.sorted(by: { abs($0.index - anchored) < abs($1.index - anchored) }) {
            guard let newIndex = source.index(of: row.key), newIndex < source.count else { continue }
            if case .row(_, let edge, let offset) = held(row) { return .row(newIndex, edge, offset) }
        }
        return nil
    }

    /// The anchor that keeps `row` at its current position.
    func held(_ row: RealizedRow) -> Anchor {
        isInverted
            ? .row(row.index, .end, row.bottom - viewport.height) : .row(row.index, .start, row.top)
    }
}
