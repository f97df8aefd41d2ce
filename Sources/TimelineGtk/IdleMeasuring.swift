import GtkKit

/// Binds and measures the rows around the viewport in idle time, so that scrolling finds them ready.
final class IdleMeasuring {
    /// The time budget of one iteration, in microseconds: two or three rows, of which the fastest wheel needs one a frame.
    private static let budget: Int64 = 2000
    /// The time between the beginnings of two iterations: what several take, and the last row of each that exceeds the
    /// budget, would not fit into a frame besides its drawing. Longer than a frame, or some frames would have two.
    private static let interval: Int64 = 17_000
    /// The maximum number of pooled row widgets.
    private static let poolLimit = 12

    private var timeout: Timeout?
    private var lastBegin = Int64.min / 2
    private let layout: RowLayout
    private let scroller: Scroller

    init(layout: RowLayout, scroller: Scroller) {
        self.layout = layout
        self.scroller = scroller
    }

    var isPending: Bool { timeout?.isPending == true }

    /// Measures soon if there is anything to measure.
    func schedule() {
        guard !isPending,
            next != nil || layout.realized.pooled > Self.poolLimit && layout.index.rows > 0
                || layout.realized.rows.contains(where: isFar)
        else { return }
        let wait = lastBegin + Self.interval - MonotonicClock.microseconds
        if wait > 0 {
            timeout = Timeout(after: .microseconds(wait)) { [weak self] in self?.measureWhenIdle() }
        } else {
            measureWhenIdle()
        }
    }

    private func measureWhenIdle() { timeout = Timeout(whenIdle: { [weak self] in self?.measure() }) }

    func stop() { timeout?.cancel() }

    private func measure() {
        guard let source = layout.source, source.count == layout.index.rows, layout.viewport.height > 0 else { return }
        lastBegin = MonotonicClock.microseconds
        // A layout that may not realize rows does not release any either, see `RowLayout.queue()`.
        layout.realized.release(from: source) { !isFar($0) }
        let deadline = lastBegin + Self.budget
        while let next {
            let row = layout.measured(next.index, source)
            if next.isAbove { row.position(endingAt: next.edge) } else { row.position(at: next.edge) }
            if MonotonicClock.microseconds >= deadline { return schedule() }
        }
        // While rows are replaced, the next ones will need the widgets of the previous ones.
        if layout.index.rows > 0 { layout.realized.trimPool(to: Self.poolLimit) }
    }

    /// Whether a row is beyond the overscan.
    private func isFar(_ row: RealizedRow) -> Bool {
        let margin = layout.viewport.height * RowLayout.overscan
        return (row.bottom < -margin || row.top > layout.viewport.height + margin) && !layout.realized.isFocused(row)
    }

    /// The next row to measure, in the scroll direction first.
    private var next: (index: Int, isAbove: Bool, edge: Double)? {
        guard layout.source != nil, let (first, last) = layout.positionedEnds else { return nil }
        let page = layout.viewport.height
        let margin = page * RowLayout.overscan
        let above = first.index > 0 && first.top > -margin ? (first.index - 1, true, first.top) : nil
        let below =
            last.index + 1 < layout.index.rows && last.bottom < page + margin
            ? (last.index + 1, false, last.bottom) : nil
        return scroller.heading < 0 ? above ?? below : below ?? above
    }
}
