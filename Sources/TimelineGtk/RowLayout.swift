import GtkKit

/// Realizes the rows in and near the viewport of a ``TimelineList``, measures them and positions them from an anchor.
final class RowLayout {
    /// The distance beyond the viewport within which rows stay realized, in viewport heights on either side.
    static let overscan = 1.0

    /// Where the rows go if they do not fill the viewport.
    var alignment = TimelineListEdge.end { didSet { queue() } }
    /// In pixels, or 0 for no limit.
    var maxRowWidth = 0 { didSet { queue() } }
    private(set) weak var source: (any TimelineListSource)?
    let realized: RealizedRows
    private(set) var index = HeightIndex()
    /// The viewport's size and the content outside it, at the last layout.
    private(set) var viewport = TimelineListViewport()
    /// Whether the next layout may create, show and hide rows, see ``queue()``.
    private var canRealize = true
    private let list: WidgetInstance

    /// - Parameter list: The parent widget of all rows, which owns this object.
    init(list: WidgetInstance) {
        self.list = list
        realized = RealizedRows(list: list)
    }

    /// Queues a layout that may realize, show and hide rows.
    ///
    /// Showing or hiding a row queues a resize of the list and all its ancestors. If that happens in the middle of a
    /// layout that only traverses some of those ancestors, GTK 4.8 leaves them flagged as needing an allocation that
    /// never comes, and no longer draws them. Therefore this queues the resize up front.
    func queue() {
        canRealize = true
        list.queueResize()
    }

    // MARK: What is laid out

    /// Whether row positions are up to date.
    var isCurrent: Bool { viewport.height > 0 && !canRealize }

    /// Whether the last row's bottom edge is in view.
    var isAtEnd: Bool { viewport.extent.below < 0.5 }

    /// Whether the positioned rows fill the viewport without a gap.
    var coversViewport: Bool {
        guard let (first, last) = positionedEnds else { return false }
        return first.top <= 0 && last.bottom >= viewport.height
    }

    /// The first and the last row positioned by the last layout.
    var positionedEnds: (first: RealizedRow, last: RealizedRow)? {
        guard let first = realized.rows.first(where: \.isPositioned),
            let last = realized.rows.last(where: \.isPositioned)
        else { return nil }
        return (first, last)
    }

    func isInView(_ row: RealizedRow) -> Bool {
        row.isPositioned && row.bottom > 0 && row.top < viewport.height
    }

    var rowsInView: [RealizedRow] { realized.rows.filter(isInView) }

    /// The indices of the rows at least partly in view.
    var visibleRows: Range<Int> {
        let rows = rowsInView
        guard let first = rows.first, let last = rows.last else { return 0..<0 }
        return first.index..<(last.index + 1)
    }

    /// The positioned row that is next to `range`: one in view rather than one beyond it, a later one rather than an
    /// earlier one.
    func positionedNeighbor(of range: Range<Int>) -> RealizedRow? {
        let others = realized.rows.filter { $0.isPositioned && !range.contains($0.index) }
        let inView = others.filter(isInView)
        let later = { (rows: [RealizedRow]) in rows.first { $0.index >= range.upperBound } }
        let earlier = { (rows: [RealizedRow]) in rows.last { $0.index < range.lowerBound } }
        return later(inView) ?? earlier(inView) ?? later(others) ?? earlier(others)
    }

    // MARK: Changes of the rows

    func replaceSource(by source: (any TimelineListSource)?) {
        realized.removeAll(from: self.source)
        self.source = source
        index.reset(rows: 0)
    }

    /// Puts all row widgets into the pool, and forgets the rows' heights.
    func replaceRows() {
        realized.release(from: source) { _ in false }
        index = HeightIndex()
        index.reset(rows: max(0, source?.count ?? 0))
        viewport.extent = .init(above: 0, below: 0)
        queue()
    }

    /// - Parameter row: In `0...index.rows`.
    func insert(_ count: Int, at row: Int) {
        index.insert(count, at: row)
        realized.inserted(count, at: row)
        queue()
    }

    /// - Parameter range: Of existing rows.
    func remove(_ range: Range<Int>) {
        realized.release(from: source) { !range.contains($0.index) }
        realized.removed(range)
        index.remove(range)
        queue()
    }

    func update(_ range: Range<Int>) {
        for row in realized.rows where range.contains(row.index) { row.isStale = true }
        queue()
    }

    /// Reloads all rows.
    func reset() {
        let count = max(0, source?.count ?? 0)
        realized.renumber(from: source) { [source] row in
            guard let newIndex = source?.index(of: row.key), newIndex < count else { return nil }
            return newIndex
        }
        index.reset(rows: count)
        for row in realized.rows { row.isStale = true }
        queue()
    }

    // MARK: Moving

    /// Moves the viewport down by `pixels`.
    func move(by pixels: Double) {
        for row in realized.rows { row.top -= pixels }
        viewport.extent.above += pixels
        viewport.extent.below -= pixels
        moved()
    }

    /// Moves the viewport's top to `offset` pixels from the list's top, where no row is positioned yet.
    func jump(to offset: Double) {
        realized.rows.forEach { $0.isPositioned = false }
        viewport.extent = .init(above: offset, below: index.total - offset - viewport.height)
        queue()
    }

    /// Queues a layout after a scroll.
    func moved() {
        if coversViewport { list.queueAllocate() } else { queue() }
    }

    // MARK: Layout

    /// While set, measuring does not change the estimated heights.
    var isEstimateFrozen: Bool {
        get { index.isEstimateFrozen }
        set { index.isEstimateFrozen = newValue }
    }

    /// Positions the rows in view without gaps, plus the realized rows around them, and returns their range.
    /// - Parameter displacement: How far below their anchored position the rows are, in pixels.
    func positionRows(width: Int, height: Int, at anchor: ScrollAnchor, displacement: Double) -> Range<Int> {
        if width != viewport.width || Double(height) != viewport.height { canRealize = true }
        defer { canRealize = false }
        viewport.width = width
        viewport.height = Double(height)
        let heightBefore = rewrap(width: width, anchor)
        let range = fillViewport(at: anchor, displacement: displacement, heightBefore: heightBefore)
        measureExtent(around: range)
        return range
    }

    /// Drops all measured heights if the rows' width has changed.
    /// - Returns: The anchored row's previous height, if the anchor is one of its edges.
    private func rewrap(width: Int, _ anchor: ScrollAnchor) -> Double? {
        let rowWidth = maxRowWidth > 0 ? min(width, maxRowWidth) : width
        guard rowWidth != viewport.rowWidth else { return nil }
        viewport.rowWidth = rowWidth
        index.reset(rows: index.rows)
        guard case .row(let row, _, _) = anchor, let anchored = realized[row], anchored.isPositioned else { return nil }
        return Double(anchored.height)
    }

    private func fillViewport(at anchor: ScrollAnchor, displacement: Double, heightBefore: Double?) -> Range<Int> {
        guard index.rows > 0, let source else {
            realized.release(from: self.source) { _ in false }
            return 0..<0
        }
        let row = anchor.row(among: index.rows)
        if canRealize { releaseFarRows(from: row) }
        let first = measured(row, source)
        let top = anchor.top(height: Double(first.height), heightBefore: heightBefore, page: viewport.height)
        first.position(at: top + displacement)
        var range = row..<(row + 1)
        fillUp(&range, source)
        fillDown(&range, source)
        closeGaps(&range, source)
        retainNeighbors(&range, source)
        let positionedRange = range
        positionFocusedRow(outside: positionedRange)
        if canRealize {
            realized.release(from: source) { positionedRange.contains($0.index) || realized.isFocused($0) }
        }
        return positionedRange
    }

    /// Realizes a row and measures its height.
    func measured(_ row: Int, _ source: any TimelineListSource) -> RealizedRow {
        let realizedRow = realized.realize(row, from: source)
        realizedRow.measure(width: viewport.rowWidth)
        index.measure(row, height: realizedRow.height)
        return realizedRow
    }

    private func fillUp(_ range: inout Range<Int>, _ source: any TimelineListSource) {
        guard var top = realized[range.lowerBound]?.top else { return }
        while top > 0, range.lowerBound > 0 {
            let row = measured(range.lowerBound - 1, source)
            row.position(endingAt: top)
            top = row.top
            range = row.index..<range.upperBound
        }
    }

    private func fillDown(_ range: inout Range<Int>, _ source: any TimelineListSource) {
        guard var bottom = realized[range.upperBound - 1]?.bottom else { return }
        while bottom < viewport.height, range.upperBound < index.rows {
            let row = measured(range.upperBound, source)
            row.position(at: bottom)
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
            shift(range, by: -first.top)
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

    /// Keeps realized rows adjacent to the visible ones, up to the overscan. Outdated ones are bound when idle
    /// (``IdleMeasuring``), so that a frame in which hundreds of rows change has time for the visible ones.
    private func retainNeighbors(_ range: inout Range<Int>, _ source: any TimelineListSource) {
        let margin = viewport.height * Self.overscan
        while let row = realized[range.lowerBound - 1], !row.isStale, let next = realized[range.lowerBound],
            next.top > -margin
        {
            measured(row.index, source).position(endingAt: next.top)
            range = row.index..<range.upperBound
        }
        while let row = realized[range.upperBound], !row.isStale, let previous = realized[range.upperBound - 1],
            previous.bottom < viewport.height + margin
        {
            measured(row.index, source).position(at: previous.bottom)
            range = range.lowerBound..<(row.index + 1)
        }
    }

    /// Returns the widgets of rows that are no longer needed to the pool before new rows are bound.
    private func releaseFarRows(from row: Int) {
        let margin = viewport.height * (1 + Self.overscan)
        let start = index.offset(of: row)
        realized.release(from: source) { other in
            if other.index == row || realized.isFocused(other) { return true }
            let distance = index.offset(of: other.index) - start
            // Measured from the anchor's row, which may be anywhere in the viewport: add a viewport's height to be
            // safe.
            return abs(distance) < margin + viewport.height
        }
    }

    /// Keeps the focused row realized, and moves it out of sight if it is outside `range`.
    private func positionFocusedRow(outside range: Range<Int>) {
        guard let row = realized.rows.first(where: { !range.contains($0.index) && realized.isFocused($0) }) else {
            return
        }
        if row.isStale, let source { _ = measured(row.index, source) }
        row.top = row.index < range.lowerBound ? -Double(row.height) - 1 : viewport.height + 1
        row.isPositioned = false
    }

    /// Measures the content outside the viewport, by estimated heights where rows are unmeasured.
    private func measureExtent(around range: Range<Int>) {
        guard !range.isEmpty, let first = realized[range.lowerBound], let last = realized[range.upperBound - 1] else {
            viewport.extent = .init(above: 0, below: 0)
            return
        }
        let above = index.offset(of: range.lowerBound) - first.top
        let below = index.total - index.offset(of: range.upperBound) + last.bottom - viewport.height
        viewport.extent = .init(above: max(0, above), below: max(0, below))
    }

    /// Allocates and maps the rows.
    func show() {
        let scale = Double(list.scaleFactor)
        let x = (viewport.width - viewport.rowWidth) / 2
        for row in realized.rows {
            row.allocate(x: x, width: viewport.rowWidth, scale: scale)
            row.setMapped(isInView(row) || realized.isFocused(row) || row.hasPointer)
        }
    }
}
