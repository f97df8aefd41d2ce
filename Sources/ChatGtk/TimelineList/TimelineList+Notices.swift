import CGtk
import GtkKit

/// Notifications after a layout, and measuring rows ahead in idle time.
extension TimelineList {
    /// The time budget of one idle iteration, in microseconds: two fit into a frame besides drawing.
    private static let idleBudget: gint64 = 3000
    /// The maximum number of pooled row widgets.
    private static let poolLimit = 12

    // MARK: Notifications

    /// Notifies from the main loop, because the list must not be changed during a layout.
    func scheduleNotification() {
        let isDue =
            noticed.visible != visibleRows || noticed.below != viewport.extent.below
            || noticed.isAtEnd != isAtEnd || refocusIndex != nil || !paging.more.isEmpty
        guard isDue, notificationTimeout?.isPending != true else { return }
        notificationTimeout = Timeout(after: .zero) { [weak self] in self?.notify() }
    }

    /// Repeats the ``onVisibleChange`` notification although nothing has moved.
    func notifyAgain() {
        noticed.visible = nil
        scheduleNotification()
    }

    private func notify() {
        // Rows have changed since the last layout. The pending layout schedules another notification; an outdated one
        // would report a formerly empty list as still at its end.
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

    /// Binds and measures the rows around the viewport in idle time, so that scrolling finds them ready.
    func scheduleIdleMeasuring() {
        guard idleMeasuring?.isPending != true,
            nextToMeasure != nil || realized.pooled > Self.poolLimit || realized.rows.contains(where: isFar)
        else { return }
        idleMeasuring = Timeout(whenIdle: { [weak self] in self?.measureAhead() })
    }

    private func measureAhead() {
        guard let source, source.count == index.rows, viewport.height > 0 else { return }
        // Layouts with `canRealize` unset release no rows: see ``queueLayout()``.
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

    /// Whether a row is beyond the overscan.
    private func isFar(_ row: RealizedRow) -> Bool {
        let margin = viewport.height * Self.overscan
        return (row.bottom < -margin || row.top > viewport.height + margin) && !isFocused(row)
    }

    /// The next row to measure, in the scroll direction first.
    private var nextToMeasure: (index: Int, isAbove: Bool, edge: Double)? {
        guard source != nil, let (first, last) = positionedEnds else { return nil }
        let margin = viewport.height * Self.overscan
        let above = first.index > 0 && first.top > -margin ? (first.index - 1, true, first.top) : nil
        let below =
            last.index + 1 < index.rows && last.bottom < viewport.height + margin
            ? (last.index + 1, false, last.bottom) : nil
        return heading < 0 ? above ?? below : below ?? above
    }

    /// The first and the last row positioned by the last layout.
    var positionedEnds: (first: RealizedRow, last: RealizedRow)? {
        guard let first = realized.rows.first(where: \.isPositioned),
            let last = realized.rows.last(where: \.isPositioned)
        else { return nil }
        return (first, last)
    }
}
