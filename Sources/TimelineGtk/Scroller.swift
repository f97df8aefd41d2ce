import GtkKit

/// Scrolls a ``TimelineList`` when the user moves the adjustment or the host requests it.
final class Scroller {
    /// Beyond this distance, in viewport heights, scrolling uses estimated heights; within it, it is exact.
    private static let exactDistance = 3.0

    /// Called for each step of an autoscroll.
    var onDragScroll: (() -> Void)?
    /// The last scroll direction: 1 for down, -1 for up.
    private(set) var heading = -1
    private let layout: RowLayout
    private let position: AnchoredPosition
    private let list: WidgetInstance
    private var animation: ScrollAnimation?
    private var autoscroll: DragScroll?
    private var thumb = ThumbSteadiness()
    /// When the user last scrolled: the frame counter, and the monotonic time in microseconds.
    private var lastMove: (frame: Int64, time: Int64)?
    /// The adjustment's value that the anchor accounts for.
    private var lastValue: Double?

    /// - Parameter list: The list's widget, which owns this object.
    init(list: WidgetInstance, layout: RowLayout, position: AnchoredPosition) {
        self.list = list
        self.layout = layout
        self.position = position
    }

    /// Stops the animation and the autoscroll.
    func stop() {
        animation = nil
        autoscroll = nil
        onDragScroll = nil
    }

    /// Ends scrolling and gestures, for replaced rows.
    func forget() {
        stopKineticScrolling()
        animation = nil
        autoscroll = nil
        thumb.release()
        heading = -1
        lastMove = nil
    }

    // MARK: By the user

    /// Scrolls the list to the adjustment's new value.
    func userScrolled(to value: Double) {
        defer { lastValue = value }
        let page = layout.viewport.height
        guard page > 0, layout.index.rows > 0 else { return }
        let delta = value - (lastValue ?? value)
        guard delta != 0 else { return }
        lastMove = list.frameCounter.map { ($0, MonotonicClock.microseconds) }
        prepare(toMoveBy: delta)
        if abs(delta) > Self.exactDistance * page {
            thumb.release()
            position.jump(to: layout.viewport.extent.above + delta)
        } else {
            thumb.moved(delta < 0 ? .up : .down)
            position.move(by: delta)
        }
    }

    /// Whether a wheel, touch or kinetic scroll is in progress.
    var isMoving: Bool {
        // The frame counter stops while nothing moves, so the time needs checking too.
        guard let lastMove, let frame = list.frameCounter else { return false }
        return frame - lastMove.frame <= 2 && MonotonicClock.microseconds - lastMove.time < 1_000_000
    }

    private func prepare(toMoveBy pixels: Double) {
        position.unpin()
        stopAnimation()
        heading = pixels < 0 ? -1 : 1
    }

    // MARK: The scrollbar

    /// Whether the user is dragging the scrollbar's thumb. GtkRange exposes this only as a style class.
    var isThumbDragged: Bool {
        list.scrolledWindow?.verticalScrollbar?.firstChild?.hasStyle("dragging") ?? false
    }

    /// Lets the thumb move freely again, after rows have been inserted, removed or remeasured.
    func releaseThumb() { thumb.release() }

    /// The adjustment's bounds around its value, which the layout does not change.
    func bounds(around value: Double) -> (lower: Double, upper: Double) {
        if isThumbDragged || position.isAnimating { thumb.release() }
        let page = layout.viewport.height
        let extent = thumb.extent(layout.viewport.extent, page: page)
        var upper = value + page + extent.below
        // Rounding must not put the value out of bounds: GTK would clamp it.
        while upper - page < value { upper = upper.nextUp }
        return (value - extent.above, upper)
    }

    /// Records the adjustment's value after its bounds were set.
    func configured(to value: Double?) { lastValue = value }

    // MARK: By the program

    func scrollToEnd(animated: Bool) {
        guard layout.index.rows > 0 else { return position.returnHome() }
        go(to: position.followsEnd ? .end : .row(layout.index.rows - 1, .end, 0), animated: animated)
    }

    /// - Parameter row: The index of an existing row.
    func scroll(toRow row: Int, at placement: TimelineListPlacement, animated: Bool) {
        switch placement {
        case .start: go(to: .row(row, .start, 0), animated: animated)
        case .end: go(to: .row(row, .end, 0), animated: animated)
        case .center: go(to: .center(row), animated: animated)
        case .nearest: bringIntoView(row, animated: animated)
        }
    }

    private func bringIntoView(_ row: Int, animated: Bool) {
        // Pin the row: the list may shrink at the same time, for example when the edit bar appears.
        defer { position.pin(row) }
        let page = layout.viewport.height
        guard page > 0 else { return go(to: .row(row, .end, 0), animated: false) }
        if let realizedRow = layout.realized[row], realizedRow.isPositioned {
            if realizedRow.top >= 0, realizedRow.bottom <= page { return }
            if realizedRow.top <= 0, realizedRow.bottom >= page { return }
            let end = realizedRow.top > 0 && Double(realizedRow.height) <= page
            go(to: .row(row, end ? .end : .start, 0), animated: animated)
        } else {
            go(to: .row(row, row < layout.visibleRows.lowerBound ? .start : .end, 0), animated: animated)
        }
    }

    /// Moves the viewport down by `pixels`, as scrolling by the user does.
    func scroll(by pixels: Double) {
        guard layout.viewport.height > 0, layout.index.rows > 0, pixels != 0 else { return }
        prepare(toMoveBy: pixels)
        thumb.moved(pixels < 0 ? .up : .down)
        position.move(by: pixels)
    }

    /// Scrolls by 90% of the viewport per page, which leaves some overlap.
    func scrollPage(_ pages: Double) { scroll(by: pages * 0.9 * layout.viewport.height) }

    func go(to target: ScrollAnchor, animated: Bool = false) {
        stopKineticScrolling()
        stopAnimation()
        thumb.release()
        let distance = animated && list.enablesAnimations ? position.distance(to: target) : 0
        heading = distance < 0 ? -1 : distance > 0 ? 1 : heading
        position.go(to: target, from: distance)
        if position.isAnimating { startAnimation() }
    }

    /// Stops a fling, which would continue from the new position. GTK's only way to do so is to toggle kinetic
    /// scrolling.
    private func stopKineticScrolling() {
        guard let window = list.scrolledWindow, window.isKineticScrolling else { return }
        window.isKineticScrolling = false
        window.isKineticScrolling = true
    }

    // MARK: Animation

    private func startAnimation() {
        let animation = ScrollAnimation(distance: position.displacement)
        self.animation = animation
        addTick { [weak animation] scroller, time in
            // The position abandons an animation when the anchored row is removed.
            guard let animation, scroller.animation === animation, scroller.position.isAnimating else { return false }
            scroller.position.animate(to: animation.rest(at: time))
            return scroller.position.isAnimating
        }
    }

    private func stopAnimation() {
        animation = nil
        position.stopAnimation()
    }

    /// Calls `step` with each frame's time in microseconds, until it returns `false`.
    private func addTick(_ step: @escaping (Scroller, Int64) -> Bool) {
        list.widget.addTick { [weak self] in
            guard let self, let time = self.list.frameTime else { return false }
            return step(self, time)
        }
    }

    // MARK: Autoscroll

    /// Scrolls with each frame while `y` is near or beyond an edge.
    func dragScroll(at y: Double) {
        if let autoscroll {
            autoscroll.y = y
            return
        }
        let drag = DragScroll(y: y)
        autoscroll = drag
        addTick { [weak drag] scroller, time in
            guard let drag, scroller.autoscroll === drag else { return false }
            let step = drag.step(at: time, height: scroller.layout.viewport.height)
            if step != 0 {
                scroller.scroll(by: step)
                scroller.onDragScroll?()
            }
            return true
        }
    }

    func endDragScroll() { autoscroll = nil }
}
