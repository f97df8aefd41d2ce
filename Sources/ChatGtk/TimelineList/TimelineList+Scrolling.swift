import CGtk
import GtkKit

/// Scrolling by the user, through the adjustment, and by the program.
extension TimelineList {
    /// Beyond this distance, in viewport heights, scrolling goes by estimated heights; within it, it is exact.
    private static let exactDistance = 3.0

    // MARK: By the user

    func userScrolled(to value: Double) {
        defer { lastValue = value }
        guard viewport.height > 0, index.rows > 0 else { return }
        let delta = value - (lastValue ?? value)
        guard delta != 0 else { return }
        pinnedKey = nil
        lastMove = frame.map { ($0, g_get_monotonic_time()) }
        stopAnimation()
        heading = delta < 0 ? -1 : 1
        if abs(delta) > Self.exactDistance * viewport.height {
            thumb.release()
            jump(to: viewport.extent.above + delta)
        } else {
            thumb.moved(delta < 0 ? .up : .down)
            move(by: delta)
        }
    }

    /// Whether a wheel, touch or kinetic scroll is in progress.
    public var isMoving: Bool {
        // The frame counter stops while nothing moves, so the time needs checking too.
        guard let lastMove, let frame else { return false }
        return frame - lastMove.frame <= 2 && g_get_monotonic_time() - lastMove.time < 1_000_000
    }

    private var frame: gint64? { gtk_widget_get_frame_clock(cast()).map { gdk_frame_clock_get_frame_counter($0) } }

    /// Moves the viewport down by `pixels`.
    func move(by pixels: Double) {
        switch anchor {
        case .end: anchor = .row(index.rows - 1, .end, -pixels)
        case .row(let row, let edge, let offset): anchor = .row(row, edge, offset - pixels)
        case .center(let row):
            guard let row = realized[row], case .row(let rowIndex, let edge, let offset) = held(row) else { break }
            anchor = .row(rowIndex, edge, offset - pixels)
        }
        for row in realized.rows { row.top -= pixels }
        viewport.extent.above += pixels
        viewport.extent.below -= pixels
        if coversViewport { gtk_widget_queue_allocate(cast()) } else { queueLayout() }
    }

    /// Moves the viewport's top to `offset` pixels from the list's top, by estimated heights where rows are unmeasured.
    private func jump(to offset: Double) {
        let page = viewport.height
        if offset <= 0 {
            anchor = .row(0, .start, 0)
        } else if offset + page >= index.total - 0.5 {
            anchor = .row(index.rows - 1, .end, 0)
        } else if isInverted {
            let row = index.row(at: offset + page) ?? 0
            anchor = .row(row, .end, index.offset(of: row + 1) - offset - page)
        } else {
            let row = index.row(at: offset) ?? 0
            anchor = .row(row, .start, index.offset(of: row) - offset)
        }
        realized.rows.forEach { $0.isPositioned = false }
        viewport.extent = .init(above: offset, below: index.total - offset - page)
        queueLayout()
    }

    // MARK: By the program

    /// Scrolls to the last row, and stays at the end if ``followsEnd`` is set.
    public func scrollToEnd(animated: Bool = false) {
        guard index.rows > 0 else { return returnHome() }
        go(to: followsEnd ? .end : .row(index.rows - 1, .end, 0), row: index.rows - 1, animated: animated)
    }

    /// Scrolls to the first row.
    public func scrollToStart(animated: Bool = false) {
        go(to: .row(0, .start, 0), row: 0, animated: animated)
    }

    /// Scrolls to a row.
    /// - Returns: `false` if the source has no such row; the position is then unchanged.
    @discardableResult
    public func scroll(to key: AnyHashable, at placement: TimelineListPlacement, animated: Bool = false) -> Bool {
        guard let row = source?.index(of: key), row >= 0, row < index.rows else { return false }
        scroll(toRow: row, at: placement, animated: animated)
        return true
    }

    /// Scrolls to the row at an index.
    /// - Parameter index: Clamped to the existing rows.
    public func scroll(toIndex index: Int, at placement: TimelineListPlacement, animated: Bool = false) {
        guard self.index.rows > 0 else { return }
        scroll(toRow: max(0, min(index, self.index.rows - 1)), at: placement, animated: animated)
    }

    /// Moves the viewport down by `pixels`, or up if negative, as scrolling by the user does.
    public func scroll(by pixels: Double) {
        guard viewport.height > 0, index.rows > 0, pixels != 0 else { return }
        pinnedKey = nil
        stopAnimation()
        heading = pixels < 0 ? -1 : 1
        thumb.moved(pixels < 0 ? .up : .down)
        move(by: pixels)
    }

    func scroll(toRow row: Int, at placement: TimelineListPlacement, animated: Bool) {
        switch placement {
        case .start: go(to: .row(row, .start, 0), row: row, animated: animated)
        case .end: go(to: .row(row, .end, 0), row: row, animated: animated)
        case .center: go(to: .center(row), row: row, animated: animated)
        case .nearest:
            // Pin the row: the list may shrink at the same time, for example when the edit bar appears.
            defer { pinnedKey = source?.key(at: row) }
            guard viewport.height > 0 else { return go(to: .row(row, .end, 0), row: row, animated: false) }
            if let realizedRow = realized[row], realizedRow.isPositioned {
                if realizedRow.top >= 0, realizedRow.bottom <= viewport.height { return }
                if realizedRow.top <= 0, realizedRow.bottom >= viewport.height { return }
                let end = realizedRow.top > 0 && Double(realizedRow.height) <= viewport.height
                go(to: .row(row, end ? .end : .start, 0), row: row, animated: animated)
            } else {
                go(to: .row(row, row < visibleRows.lowerBound ? .start : .end, 0), row: row, animated: animated)
            }
        }
    }

    /// The scroll position, for ``restore(_:)``, also across restarts.
    public var position: TimelineListPosition {
        if anchor == .end || index.rows == 0 { return .end }
        let inView = realized.rows.filter(isInView)
        if let row = inView.last(where: { $0.bottom < viewport.height + 0.5 }) ?? inView.first {
            return .row(row.key, below: row.bottom - viewport.height)
        }
        if case .row(let row, .end, let offset) = anchor, row < index.rows, let source {
            return .row(source.key(at: row), below: offset)
        }
        return .end
    }

    /// Scrolls to a saved ``position``.
    /// - Returns: `false` if its row no longer exists; the position is then unchanged.
    @discardableResult
    public func restore(_ position: TimelineListPosition) -> Bool {
        switch position {
        case .end: scrollToEnd()
        case .row(let key, let below):
            guard let row = source?.index(of: key), row >= 0, row < index.rows else { return false }
            go(to: .row(row, .end, below), row: row, animated: false)
        }
        return true
    }

    private func go(to target: Anchor, row: Int, animated: Bool) {
        pinnedKey = nil
        stopKineticScrolling()
        stopAnimation()
        thumb.release()
        var distance = animated && adw_get_enable_animations(cast()) != 0 ? distance(to: target, row: row) : 0
        heading = distance < 0 ? -1 : distance > 0 ? 1 : heading
        anchor = target
        // Closer to an end than `distance`, the row cannot reach its placement: stop at the end.
        if distance > viewport.extent.below {
            distance = viewport.extent.below
            anchor = followsEnd ? .end : .row(index.rows - 1, .end, 0)
        } else if distance < -viewport.extent.above {
            distance = -viewport.extent.above
            anchor = .row(0, .start, 0)
        }
        if distance != 0 {
            // Beyond the measured rows, content would visibly jump: animate one viewport height at most.
            displacement = max(-viewport.height, min(viewport.height, distance))
            startAnimation()
        }
        queueLayout()
    }

    /// How far below its target position a row is, in pixels.
    private func distance(to target: Anchor, row: Int) -> Double {
        guard viewport.height > 0, let near = realized.rows.first(where: \.isPositioned) else { return 0 }
        let top = near.top + index.offset(of: row) - index.offset(of: near.index)
        let height = index.offset(of: row + 1) - index.offset(of: row)
        switch target {
        case .end: return top + height - viewport.height
        case .row(_, .end, let offset): return top + height - viewport.height - offset
        case .row(_, .start, let offset): return top - offset
        case .center: return top - (viewport.height - height) / 2
        }
    }

    // MARK: Animation

    private func startAnimation() {
        let animation = ScrollAnimation(distance: displacement)
        self.animation = animation
        widget.addTick { [weak self, weak animation] in
            guard let self, let animation, self.animation === animation,
                let clock = gtk_widget_get_frame_clock(self.cast())
            else { return false }
            self.displacement = animation.rest(at: Int64(gdk_frame_clock_get_frame_time(clock)))
            if self.displacement == 0 { self.animation = nil }
            self.queueLayout()
            return self.animation != nil
        }
    }

    /// Stops the animation and leaves the content where it is.
    func stopAnimation() {
        guard animation != nil else { return }
        animation = nil
        let rest = displacement
        displacement = 0
        move(by: -rest)
        for row in realized.rows { row.top -= rest }
        viewport.extent.above += rest
        viewport.extent.below -= rest
    }

    /// Stops a fling, which would continue from the new position. GTK has no API for that but toggling kinetic
    /// scrolling.
    private func stopKineticScrolling() {
        guard let scroller = gtk_widget_get_ancestor(cast(), gtk_scrolled_window_get_type()) else { return }
        let window = OpaquePointer(scroller)
        guard gtk_scrolled_window_get_kinetic_scrolling(window) != 0 else { return }
        gtk_scrolled_window_set_kinetic_scrolling(window, 0)
        gtk_scrolled_window_set_kinetic_scrolling(window, 1)
    }

    // MARK: Autoscroll

    /// Autoscrolls during a drag, such as a selection, while `y` is near or beyond an edge; the speed grows with the
    /// distance.
    ///
    /// Call it for each motion event with `y` in the list's coordinates. Each step calls ``onDragScroll``. End it with
    /// ``endDragScroll()``.
    public func dragScroll(at y: Double) {
        if let dragScroll {
            dragScroll.y = y
            return
        }
        let drag = DragScroll(y: y)
        dragScroll = drag
        widget.addTick { [weak self, weak drag] in
            guard let self, let drag, self.dragScroll === drag, let clock = gtk_widget_get_frame_clock(self.cast())
            else { return false }
            let step = drag.step(at: Int64(gdk_frame_clock_get_frame_time(clock)), height: self.viewport.height)
            if step != 0 {
                self.scroll(by: step)
                self.onDragScroll?()
            }
            return true
        }
    }

    public func endDragScroll() { dragScroll = nil }
}
