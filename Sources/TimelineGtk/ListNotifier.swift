import GtkKit

/// Notifies the host of what a layout of its ``TimelineList`` has changed, and when to load more rows.
///
/// Notifies from the main loop, because the list must not be changed during a layout.
final class ListNotifier {
    var onVisibleChange: (() -> Void)?
    var onAtEndChange: ((Bool) -> Void)?
    var onNeedsMore: ((TimelineListEdge) -> Void)?
    var paging = TimelineListPaging()

    /// The values that were last reported.
    private var reported: (visible: Range<Int>?, below: Double?, isAtEnd: Bool) = (nil, nil, true)
    private var timeout: Timeout?
    private let layout: RowLayout
    private let scroller: Scroller
    private let focus: RowFocus

    init(layout: RowLayout, scroller: Scroller, focus: RowFocus) {
        self.layout = layout
        self.scroller = scroller
        self.focus = focus
    }

    var isPending: Bool { timeout?.isPending == true }

    /// Notifies soon if there is anything to report.
    func schedule() {
        let isDue =
            reported.visible != layout.visibleRows || reported.below != layout.viewport.extent.below
            || reported.isAtEnd != layout.isAtEnd || focus.isPending || !paging.more.isEmpty
        guard isDue, !isPending else { return }
        timeout = Timeout(after: .zero) { [weak self] in self?.notify() }
    }

    /// Reports the visible rows again although nothing has moved.
    func notifyAgain() {
        reported.visible = nil
        schedule()
    }

    /// Resets what was reported, for replaced rows.
    func forget() {
        paging = TimelineListPaging()
        reported = (nil, nil, true)
    }

    /// Stops all notifications.
    func stop() {
        timeout?.cancel()
        onVisibleChange = nil
        onAtEndChange = nil
        onNeedsMore = nil
    }

    private func notify() {
        // Rows have changed since the last layout. The pending layout schedules another notification; an outdated one
        // would report a formerly empty list as still at its end.
        guard layout.isCurrent else { return }
        focus.refocus()
        let (visible, isAtEnd) = (layout.visibleRows, layout.isAtEnd)
        if reported.isAtEnd != isAtEnd {
            reported.isAtEnd = isAtEnd
            onAtEndChange?(isAtEnd)
        }
        if reported.visible != visible || reported.below != layout.viewport.extent.below {
            reported.visible = visible
            reported.below = layout.viewport.extent.below
            onVisibleChange?()
        }
        let viewport = layout.viewport
        guard onNeedsMore != nil, viewport.height > 0 else { return }
        let edge = paging.request(
            above: viewport.extent.above, below: viewport.extent.below, page: viewport.height,
            heading: scroller.heading, isMoving: scroller.isMoving)
        if let edge { onNeedsMore?(edge) }
    }
}
