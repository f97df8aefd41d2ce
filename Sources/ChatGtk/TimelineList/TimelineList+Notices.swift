import CGtk
import GtkKit

/// What the list tells after a layout, and what it does when there is time.
extension TimelineList {
    /// The longest that one go of measuring ahead takes, in microseconds: two fit beside the drawing of a frame.
    private static let idleBudget: gint64 = 3000
    /// How many row widgets are kept for later use.
    private static let poolLimit = 12

    // MARK: Notices

    /// Tells from the main loop, as the list must not be changed in a layout.
    func scheduleNotification() {
        let isDue =
            noticed.visible != visibleRows || noticed.below != viewport.extent.below
            || noticed.isAtEnd != isAtEnd || refocusIndex != nil || !paging.more.isEmpty
        guard isDue, notificationTimeout?.isPending != true else { return }
        notificationTimeout = Timeout(after: .zero) { [weak self] in self?.notify() }
    }

    /// Has where the list stands told again, though it is where it was.
    func notifyAgain() {
        noticed.visible = nil
        scheduleNotification()
    }

    private func notify() {
        // Rows have come or gone since: where they stand shows with the layout that is due, and that gives notice again.
        // A list that was empty would still be at its end.
        guard isLaidOut else { return }
        refocus()
        let visible = visibleRows
        if noticed.isAtEnd != isAtEnd {
            noticed.isAtEnd = isAtEnd
            onAtEndChange?(isAtEnd)
        }
        if noticed.visible != visible || noticed.below != viewport.extent.below {
            noticed.visible = visible
            noticed.below = viewport.extent.below
            onVisibleChange?()
        }
        guard onNeedsMore != nil, viewport.height > 0 else { return }
        let edge = paging.request(
            above: viewport.extent.above, below: viewport.extent.below, page: viewport.height, heading: heading)
        if let edge { onNeedsMore?(edge) }
    }

    // MARK: Measuring ahead

    /// Binds and measures the rows around the viewport while nothing else is to be done, so that scrolling finds
    /// them ready.
    func scheduleIdleMeasuring() {
        guard idleMeasuring?.isPending != true,
            nextToMeasure != nil || realized.pooled > Self.poolLimit || realized.rows.contains(where: isFar)
        else { return }
        idleMeasuring = Timeout(whenIdle: { [weak self] in self?.measureAhead() })
    }

    private func measureAhead() {
        guard let source, source.count == index.rows, viewport.height > 0 else { return }
        // Layouts of frames that find their rows ready let none go: see ``queueLayout()``.
        realized.release(from: source) { !isFar($0) }
        let deadline = g_get_monotonic_time() + Self.idleBudget
        while let next = nextToMeasure {
            let row = measured(next.index, source)
            row.top = next.isAbove ? next.edge - Double(row.height) : next.edge
            row.isPositioned = true
            if g_get_monotonic_time() >= deadline { return scheduleIdleMeasuring() }
        }
        realized.trimPool(to: Self.poolLimit)
    }

    /// Whether a row is farther from the viewport than rows are kept.
    private func isFar(_ row: RealizedRow) -> Bool {
        let margin = viewport.height * Self.overscan
        return (row.bottom < -margin || row.top > viewport.height + margin) && !isFocused(row)
    }

    /// The row to be measured next, beside those that are: the way one is heading first.
    private var nextToMeasure: (index: Int, isAbove: Bool, edge: Double)? {
        guard source != nil, let (first, last) = positionedEnds else { return nil }
        let margin = viewport.height * Self.overscan
        let above = first.index > 0 && first.top > -margin ? (first.index - 1, true, first.top) : nil
        let below =
            last.index + 1 < index.rows && last.bottom < viewport.height + margin
            ? (last.index + 1, false, last.bottom) : nil
        return heading < 0 ? above ?? below : below ?? above
    }

    /// The first and the last row that the last layout placed.
    var positionedEnds: (first: RealizedRow, last: RealizedRow)? {
        guard let first = realized.rows.first(where: \.isPositioned),
            let last = realized.rows.last(where: \.isPositioned)
        else { return nil }
        return (first, last)
    }
}
