import GtkKit

/// What a ``TimelineList`` holds in place, and how far an animation is still away from it.
///
/// The rows are laid out through this object, which replaces the anchor with an equivalent one after each layout.
final class AnchoredPosition {
    /// Whether the list opens at the end and keeps its bottom in place when the viewport is resized.
    var isInverted = true { didSet { if isInverted != oldValue { returnHome() } } }
    /// Whether the end, once in view, stays in view when rows are added or grow.
    var followsEnd = true { didSet { if !followsEnd { leaveEnd() } } }

    private(set) var anchor = ScrollAnchor.end
    /// Whether the anchor was requested and awaits its layout. Until then the viewport's extent and the rows in view
    /// are those from before.
    private var isRequested = true
    /// The key of the row that was requested, by which a reset finds it again; `nil` for the end or the initial
    /// position.
    private var requestedKey: AnyHashable?
    /// How far below their anchored position the rows are, in pixels, while an animation moves them there.
    private(set) var displacement = 0.0
    /// The row that was scrolled into view and stays there when the list shrinks, until the next scroll.
    private var pinnedKey: AnyHashable?
    private let layout: RowLayout

    init(layout: RowLayout) { self.layout = layout }

    var isAnimating: Bool { displacement != 0 }

    // MARK: Layout

    func layOut(width: Int, height: Int) {
        retainPinnedRow(in: Double(height))
        let range = layout.positionRows(
            width: width, height: height, at: anchor, displacement: displacement)
        isRequested = false
        // While an animation is under way, the anchor is its target.
        if !isAnimating { resolveAnchor(range) }
    }

    /// When an inverted list shrinks, its end stays put and rows are pushed out at the top. This keeps the pinned row
    /// in view.
    private func retainPinnedRow(in height: Double) {
        let page = layout.viewport.height
        guard isInverted, height < page, !isAnimating, let pinnedKey,
            let row = layout.source?.index(of: pinnedKey).flatMap({ layout.realized[$0] }), row.isPositioned,
            row.top - (page - height) < 0, Double(row.height) <= height
        else { return }
        anchor = .row(row.index, .start, 0)
    }

    /// Replaces the anchor with an equivalent one on a row in view.
    private func resolveAnchor(_ range: Range<Int>) {
        guard let last = layout.realized[range.upperBound - 1], !range.isEmpty else { return }
        let extent = layout.viewport.extent
        let endsHere = range.upperBound == layout.index.rows && extent.below <= 0.01
        if anchor == .end || (followsEnd && endsHere && (isInverted || extent.above > 0)) {
            anchor = followsEnd ? .end : .row(last.index, .end, 0)
        } else if let row = rowToHold(in: range) {
            anchor = holding(row)
        }
    }

    /// The row to hold in place: in an inverted list the last one whose bottom edge is in view, otherwise the first one
    /// whose top edge is, with half a pixel of tolerance.
    private func rowToHold(in range: Range<Int>) -> RealizedRow? {
        let inView = layout.rowsInView.filter { range.contains($0.index) }
        if isInverted { return inView.last { $0.bottom < layout.viewport.height + 0.5 } ?? inView.first }
        return inView.first { $0.top > -0.5 } ?? inView.last
    }

    /// The anchor that keeps `row` at its current position.
    private func holding(_ row: RealizedRow) -> ScrollAnchor {
        isInverted
            ? .row(row.index, .end, row.bottom - layout.viewport.height) : .row(row.index, .start, row.top)
    }

    // MARK: Changes of the rows

    func replaceSource(by source: (any TimelineListSource)?) {
        layout.replaceSource(by: source)
        returnHome()
    }

    func replaceRows() {
        layout.replaceRows()
        pinnedKey = nil
        returnHome()
    }

    /// - Parameter index: In `0...layout.index.rows`.
    func insert(_ count: Int, at index: Int) {
        stayAtEnd()
        // An empty list has no row to hold in place: the anchor says where it opens.
        if layout.index.rows > 0 { anchor = anchor.inserting(count, at: index) }
        layout.insert(count, at: index)
    }

    /// - Parameter range: Of existing rows.
    func remove(_ range: Range<Int>) {
        moveAnchor(outOf: range)
        layout.remove(range)
        returnHomeIfEmpty()
    }

    /// Reloads all rows. The anchor stays on its row, or on another one in view, if that still exists. An animation
    /// continues if its target still exists.
    func reset() {
        let survivor = anchorSurvivingReset()
        layout.reset()
        anchor = survivor ?? anchor.clamped(to: layout.index.rows)
        returnHomeIfEmpty()
    }

    /// The rows that come after all were removed are placed as in a new list, unless they follow its end.
    private func returnHomeIfEmpty() {
        if layout.index.rows == 0, anchor != .end { returnHome() }
    }

    /// Anchors to the end if less than half a pixel from it, consistently with ``RowLayout/isAtEnd``.
    private func stayAtEnd() {
        guard followsEnd, !isRequested, layout.isAtEnd, !isAnimating, layout.index.rows > 0 else { return }
        if isInverted || layout.viewport.extent.above > 0 { anchor = .end }
    }

    /// If the anchor's row is in `range`, which is about to be removed, moves the anchor to a remaining row without
    /// moving that row.
    private func moveAnchor(outOf range: Range<Int>) {
        if let moved = anchor.removing(range) {
            anchor = moved
            return
        }
        if let neighbor = layout.positionedNeighbor(of: range) {
            let isLater = neighbor.index >= range.upperBound
            anchor = holding(neighbor).on(isLater ? neighbor.index - range.count : neighbor.index)
            isRequested = false
        } else {
            anchor = anchor.on(max(0, min(range.lowerBound, layout.index.rows - range.count - 1)))
        }
        displacement = 0
    }

    /// Returns the anchor with its row's new index, or one for the nearest row in view that still exists.
    private func anchorSurvivingReset() -> ScrollAnchor? {
        guard let source = layout.source, let anchored = anchor.row else { return nil }
        func newIndex(of key: AnyHashable) -> Int? {
            source.index(of: key).flatMap { $0 < source.count ? $0 : nil }
        }
        if isRequested || isAnimating {
            guard let requestedKey else { return nil }
            if let index = newIndex(of: requestedKey) { return anchor.on(index) }
            // The positions of the rows in view include the displacement.
            displacement = 0
        }
        for row in layout.rowsInView.sorted(by: { abs($0.index - anchored) < abs($1.index - anchored) }) {
            if let index = newIndex(of: row.key) { return holding(row).on(index) }
        }
        return nil
    }

    /// The key of the row that is anchored, or `nil` for the end.
    private var anchoredKey: AnyHashable? {
        guard let source = layout.source, let row = anchor.row, row >= 0, row < layout.index.rows, row < source.count
        else { return nil }
        return source.key(at: row)
    }

    // MARK: Moving

    /// Returns to the initial position, as if nobody had scrolled.
    func returnHome() {
        anchor = home
        displacement = 0
        (isRequested, requestedKey) = (true, nil)
        layout.queue()
    }

    /// The initial position.
    private var home: ScrollAnchor {
        !isInverted ? .row(0, .start, 0) : followsEnd ? .end : .row(ScrollAnchor.lastRow, .end, 0)
    }

    private func leaveEnd() {
        if anchor == .end { anchor = layout.index.rows > 0 ? lastRow : home }
    }

    /// The bottom edge of the row that is last now: unlike the end, it does not follow rows added later.
    private var lastRow: ScrollAnchor { .row(max(0, layout.index.rows - 1), .end, 0) }

    /// Moves the viewport down by `pixels`.
    func move(by pixels: Double) {
        if case .center(let row) = anchor, let row = layout.realized[row] { anchor = holding(row) }
        anchor = anchor.moved(by: -pixels, among: layout.index.rows)
        layout.move(by: pixels)
    }

    /// Moves the viewport's top to `offset` pixels from the list's top, by estimated heights where rows are unmeasured.
    func jump(to offset: Double) {
        let (index, page) = (layout.index, layout.viewport.height)
        if offset <= 0 {
            anchor = .row(0, .start, 0)
        } else if offset + page >= index.total - 0.5 {
            anchor = lastRow
        } else if isInverted {
            let row = index.row(at: offset + page) ?? 0
            anchor = .row(row, .end, index.offset(of: row + 1) - offset - page)
        } else {
            let row = index.row(at: offset) ?? 0
            anchor = .row(row, .start, index.offset(of: row) - offset)
        }
        layout.jump(to: offset)
        // Unlike after `go`, the viewport's extent is that of the new position.
        isRequested = false
    }

    /// Moves the viewport to an anchor.
    /// - Parameter distance: How far below the anchor its row starts, in pixels, before an animation moves it to
    ///   the anchor.
    func go(to target: ScrollAnchor, from distance: Double = 0) {
        pinnedKey = nil
        anchor = target
        let extent = layout.viewport.extent
        var distance = distance
        // Closer to an end than `distance`, the row cannot reach its placement: stop at the end.
        if distance > max(0, extent.below) {
            distance = max(0, extent.below)
            anchor = followsEnd ? .end : lastRow
        } else if distance < -max(0, extent.above) {
            distance = -max(0, extent.above)
            anchor = .row(0, .start, 0)
        }
        // Beyond the measured rows, content would visibly jump: animate one viewport height at most.
        let page = layout.viewport.height
        displacement = max(-page, min(page, distance))
        (isRequested, requestedKey) = (true, anchoredKey)
        layout.queue()
    }

    /// Holds the top of a row in view in place during the next layout, in which its height changes.
    func holdTop(of key: AnyHashable) {
        guard !isRequested, !isAnimating, let row = layout.rowsInView.first(where: { $0.key == key }) else { return }
        anchor = .row(row.index, .start, row.top)
        (isRequested, requestedKey) = (true, key)
        layout.queue()
    }

    /// How far below its place at `target` a row is, in pixels.
    func distance(to target: ScrollAnchor) -> Double {
        let (index, page) = (layout.index, layout.viewport.height)
        guard page > 0, let near = layout.realized.rows.first(where: \.isPositioned) else { return 0 }
        let row = target.row(among: index.rows)
        let top = near.top + index.offset(of: row) - index.offset(of: near.index)
        let height = index.offset(of: row + 1) - index.offset(of: row)
        return top - target.top(height: height, page: page)
    }

    /// Moves the rows to `displacement` pixels below their position.
    func animate(to displacement: Double) {
        self.displacement = displacement
        layout.queue()
    }

    /// Ends an animation, and leaves the rows where they are.
    func stopAnimation() {
        guard isAnimating else { return }
        if case .center(let row) = anchor {
            if let row = layout.realized[row] { anchor = holding(row) }
        } else {
            anchor = anchor.moved(by: displacement, among: layout.index.rows)
        }
        displacement = 0
        layout.moved()
    }

    /// Keeps a row in view when the list shrinks, until the next scroll.
    func pin(_ row: Int) { pinnedKey = layout.source?.key(at: row) }
    func unpin() { pinnedKey = nil }

    // MARK: Saving

    /// The current position, in a form that stays valid when rows come and go.
    var saved: TimelineListPosition {
        if anchor == .end || layout.index.rows == 0 { return .end }
        let (inView, page) = (layout.rowsInView, layout.viewport.height)
        if let row = inView.last(where: { $0.bottom < page + 0.5 }) ?? inView.first {
            return .row(row.key, below: row.bottom - page)
        }
        if case .row(let row, .end, let offset) = anchor, row < layout.index.rows, let source = layout.source {
            return .row(source.key(at: row), below: offset)
        }
        return .end
    }
}
