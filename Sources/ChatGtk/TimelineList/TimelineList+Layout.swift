import CGtk
import GtkKit

/// Layout: derives row positions from the anchor, and the adjustment's bounds from those.
extension TimelineList {
    /// The distance beyond the viewport within which rows stay realized, in viewport heights on either side.
    static let overscan = 1.0

    /// Queues a layout that may realize, show and hide rows.
    ///
    /// Showing or hiding a row queues a resize of the list and all its ancestors. If that happens in the middle of a
    /// layout that only traverses some of those ancestors, GTK 4.8 leaves them flagged as needing an allocation that
    /// never comes, and no longer draws them. Therefore this queues the resize up front.
    func queueLayout() {
        canRealize = true
        gtk_widget_queue_resize(cast())
    }

    /// Whether row positions are up to date.
    var isLaidOut: Bool { viewport.height > 0 && !canRealize }

    /// Whether the positioned rows fill the viewport without a gap.
    var coversViewport: Bool {
        guard let (first, last) = positionedEnds else { return false }
        return first.top <= 0 && last.bottom >= viewport.height
    }

    func layOut(width: Int, height: Int) {
        guard width > 0, height > 0 else { return }
        checkCount()
        if width != viewport.width || Double(height) != viewport.height { canRealize = true }
        defer { canRealize = false }
        index.isEstimateFrozen = isThumbDragged
        let rewraps = updateSize(width: width, height: height)
        let order = positionRows(rewraps: rewraps)
        let target = animation == nil ? nil : anchor
        resolveAnchor(order)
        if let target { anchor = target }
        configureAdjustment()
        show()
        scheduleNotification()
        scheduleIdleMeasuring()
    }

    func isInView(_ row: RealizedRow) -> Bool {
        row.isPositioned && row.bottom > 0 && row.top < viewport.height
    }

    /// Guards against a source whose count differs from the changes it has reported: binding would run past its rows.
    private func checkCount() {
        let count = source?.count ?? 0
        guard count != index.rows else { return }
        let message = "TimelineList: the source has \(count) rows but told of \(index.rows); all are read anew"
        shim_warning(message)
        reset()
    }

    /// - Returns: The anchor's row as measured at the old width, if the width has changed and all rows need measuring
    ///   again.
    private func updateSize(width: Int, height: Int) -> RealizedRow? {
        let rowWidth = maximumRowWidth > 0 ? min(width, maximumRowWidth) : width
        let changed = rowWidth != viewport.rowWidth
        pinInView(Double(height))
        viewport.width = width
        viewport.height = Double(height)
        viewport.rowWidth = rowWidth
        guard changed else { return nil }
        index.reset(rows: index.rows)
        thumb.release()
        guard case .row(let row, _, _) = anchor, let anchored = realized[row], anchored.isPositioned else { return nil }
        return anchored
    }

    /// When an inverted list shrinks, its end stays put and rows are pushed out at the top. This keeps the pinned row
    /// in view.
    private func pinInView(_ height: Double) {
        guard isInverted, height < viewport.height, animation == nil, let pinnedKey,
            let row = source?.index(of: pinnedKey).flatMap({ realized[$0] }), row.isPositioned,
            row.top - (viewport.height - height) < 0, Double(row.height) <= height
        else { return }
        anchor = .row(row.index, .start, 0)
    }

    // MARK: Positioning rows

    /// Positions the rows in view without gaps, plus the realized rows around them, and returns their range.
    private func positionRows(rewraps anchored: RealizedRow?) -> Range<Int> {
        guard index.rows > 0, let source else {
            realized.release(from: self.source) { _ in false }
            return 0..<0
        }
        let oldHeight = anchored?.height
        let row = anchoredRow
        if canRealize { releaseFarRows(from: row) }
        let first = measured(row, source)
        first.top = top(of: first, heightBefore: oldHeight) + displacement
        first.isPositioned = true
        var range = row..<(row + 1)
        fillUp(&range, source)
        fillDown(&range, source)
        closeGaps(&range, source)
        retainNeighbors(&range, source)
        let positionedRange = range
        positionFocusedRow(outside: positionedRange)
        if canRealize { release(outside: positionedRange) }
        return positionedRange
    }

    private func release(outside range: Range<Int>) {
        realized.release(from: source) { range.contains($0.index) || isFocused($0) }
    }

    private var anchoredRow: Int {
        switch anchor {
        case .end: index.rows - 1
        case .row(let row, _, _), .center(let row): max(0, min(row, index.rows - 1))
        }
    }

    private func top(of row: RealizedRow, heightBefore: Int?) -> Double {
        let height = Double(row.height)
        switch anchor {
        case .end: return viewport.height - height
        case .center: return (viewport.height - height) / 2
        case .row(_, .start, let offset):
            // A row that is partly out of view has been rewrapped: keep the same fraction of it out of view.
            guard let heightBefore, heightBefore > 0, offset < 0 else { return offset }
            return offset * height / Double(heightBefore)
        case .row(_, .end, let offset):
            guard let heightBefore, heightBefore > 0, offset > 0 else { return viewport.height + offset - height }
            return viewport.height + offset * height / Double(heightBefore) - height
        }
    }

    /// Realizes a row and measures its height.
    func measured(_ row: Int, _ source: any TimelineListSource) -> RealizedRow {
        let realizedRow = realized.realize(row, from: source)
        let widget = realizedRow.widget
        let width = rowWidth(of: widget)
        var natural: Int32 = 0
        gtk_widget_measure(widget.cast(), GTK_ORIENTATION_VERTICAL, width, nil, &natural, nil, nil)
        realizedRow.height = Int(natural)
        index.measure(row, height: Int(natural))
        return realizedRow
    }

    /// At least the row's minimum width: the list may clip a row, but GTK forbids allocating it less than its minimum.
    private func rowWidth(of widget: Widget) -> Int32 {
        var minimum: Int32 = 0
        gtk_widget_measure(widget.cast(), GTK_ORIENTATION_HORIZONTAL, -1, &minimum, nil, nil, nil)
        return max(minimum, Int32(viewport.rowWidth))
    }

    private func fillUp(_ range: inout Range<Int>, _ source: any TimelineListSource) {
        guard var top = realized[range.lowerBound]?.top else { return }
        while top > 0, range.lowerBound > 0 {
            let row = measured(range.lowerBound - 1, source)
            top -= Double(row.height)
            row.top = top
            row.isPositioned = true
            range = row.index..<range.upperBound
        }
    }

    private func fillDown(_ range: inout Range<Int>, _ source: any TimelineListSource) {
        guard var bottom = realized[range.upperBound - 1]?.bottom else { return }
        while bottom < viewport.height, range.upperBound < index.rows {
            let row = measured(range.upperBound, source)
            row.top = bottom
            row.isPositioned = true
            bottom = row.bottom
            range = range.lowerBound..<(row.index + 1)
        }
    }

    /// Leaves no gap above the first or below the last row, unless all rows together are shorter than the viewport.
    private func closeGaps(_ range: inout Range<Int>, _ source: any TimelineListSource) {
        if range.upperBound == index.rows, let last = realized[range.upperBound - 1], last.bottom < viewport.height {
            shift(range, by: viewport.height - last.bottom)
            fillUp(&range, source)
        }
        if range.lowerBound == 0, let first = realized[0], first.top > 0 {
            let wasFilled = first.top
            shift(range, by: -wasFilled)
            fillDown(&range, source)
            guard range.upperBound == index.rows, let last = realized[range.upperBound - 1],
                last.bottom < viewport.height, alignment == .end
            else { return }
            shift(range, by: viewport.height - last.bottom)
        }
    }

    private func shift(_ range: Range<Int>, by pixels: Double) {
        for row in realized.rows where range.contains(row.index) { row.top += pixels }
    }

    /// Keeps realized rows adjacent to those in view, up to the overscan.
    private func retainNeighbors(_ range: inout Range<Int>, _ source: any TimelineListSource) {
        let margin = viewport.height * Self.overscan
        while let row = realized[range.lowerBound - 1], let next = realized[range.lowerBound], next.top > -margin {
            row.top = next.top - Double(measured(row.index, source).height)
            row.isPositioned = true
            range = row.index..<range.upperBound
        }
        while let row = realized[range.upperBound], let previous = realized[range.upperBound - 1],
            previous.bottom < viewport.height + margin
        {
            _ = measured(row.index, source)
            row.top = previous.bottom
            row.isPositioned = true
            range = range.lowerBound..<(row.index + 1)
        }
    }

    /// Returns the widgets of rows that are no longer needed to the pool before new rows are bound.
    private func releaseFarRows(from row: Int) {
        let margin = viewport.height * (1 + Self.overscan)
        let start = index.offset(of: row)
        realized.release(from: source) { other in
            if other.index == row || isFocused(other) { return true }
            let distance = index.offset(of: other.index) - start
            // Measured from the anchor's row, which may be anywhere in the viewport: add a viewport's height to be
            // safe.
            return abs(distance) < margin + viewport.height
        }
    }

    /// Keeps the focused row realized, and moves it out of sight if it is outside `range`.
    private func positionFocusedRow(outside range: Range<Int>) {
        guard let row = realized.rows.first(where: { !range.contains($0.index) && isFocused($0) }) else { return }
        if row.isStale, let source { _ = measured(row.index, source) }
        row.top = row.index < range.lowerBound ? -Double(row.height) - 1 : viewport.height + 1
        row.isPositioned = false
    }

    // MARK: After the layout

    /// Replaces the anchor with an equivalent one on a row in view.
    private func resolveAnchor(_ range: Range<Int>) {
        guard let first = realized[range.lowerBound], let last = realized[range.upperBound - 1], !range.isEmpty else {
            viewport.extent = .init(above: 0, below: 0)
            return
        }
        let endsHere = range.upperBound == index.rows
        let above = range.lowerBound == 0 ? -first.top : index.offset(of: range.lowerBound) - first.top
        let below =
            (endsHere ? 0 : index.total - index.offset(of: range.upperBound)) + last.bottom - viewport.height
        viewport.extent = .init(above: max(0, above), below: max(0, below))
        if anchor == .end || (followsEnd && endsHere && below <= 0.01 && (isInverted || above > 0)) {
            anchor = followsEnd ? .end : .row(last.index, .end, 0)
        } else if let row = readRow(range) {
            anchor = held(row)
        }
    }

    /// The row to hold in place: in an inverted list the last one whose bottom edge is in view, otherwise the first one
    /// whose top edge is, with half a pixel of tolerance.
    private func readRow(_ range: Range<Int>) -> RealizedRow? {
        let inView = realized.rows.filter { range.contains($0.index) && isInView($0) }
        if isInverted { return inView.last { $0.bottom < viewport.height + 0.5 } ?? inView.first }
        return inView.first { $0.top > -0.5 } ?? inView.last
    }

    private func configureAdjustment() {
        let height = viewport.height
        guard let value = verticalAdjustment?.value else { return }
        let real = viewport.extent
        if isThumbDragged || animation != nil { thumb.release() }
        let displayedExtent = thumb.extent(real, page: height)
        var upper = value + height + displayedExtent.below
        // Rounding must not put the value out of bounds: GTK would clamp it.
        while upper - height < value { upper = upper.nextUp }
        configure(value: value, lower: value - displayedExtent.above, upper: upper, pageSize: height)
        lastValue = verticalAdjustment?.value
    }

    /// Allocates and maps the rows. Rounds their positions to device pixels; all share the same fraction.
    private func show() {
        let scale = Double(gtk_widget_get_scale_factor(cast()))
        let x = Float((viewport.width - viewport.rowWidth) / 2)
        for row in realized.rows {
            let widget = row.widget
            let width = rowWidth(of: widget)
            var point = graphene_point_t(x: x, y: Float((row.top * scale).rounded() / scale))
            gtk_widget_allocate(
                widget.cast(), width, Int32(row.height), -1, gsk_transform_translate(nil, &point))
            let isNear = isInView(row) || isFocused(row)
            if (gtk_widget_get_child_visible(widget.cast()) != 0) != isNear {
                gtk_widget_set_child_visible(widget.cast(), isNear ? 1 : 0)
            }
        }
    }

    /// Whether the user is dragging the scrollbar's thumb. GtkRange exposes this only as a style class.
    var isThumbDragged: Bool {
        guard let scroller = gtk_widget_get_ancestor(cast(), gtk_scrolled_window_get_type()),
            let bar = gtk_scrolled_window_get_vscrollbar(OpaquePointer(scroller)),
            let range = gtk_widget_get_first_child(bar)
        else { return false }
        return gtk_widget_has_css_class(range, "dragging") != 0
    }
}
