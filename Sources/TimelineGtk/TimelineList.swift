public import CGtk
public import GtkKit

/// A virtualized list of any length whose scroll position stays put when rows change. Goes into a `GtkScrolledWindow`.
///
/// Rows are widgets of any height, created and bound by a ``TimelineListSource``; only those in and near the viewport
/// exist, and they are recycled. The list is positioned by an anchor: the end, or one row's edge and its distance from
/// the viewport's edge. Rows that are inserted, removed or resized elsewhere do not move that row by a pixel. Only the
/// user changes the adjustment's value; its bounds float around it. To restore a scroll position, save ``position``,
/// never the adjustment's value.
///
/// In `.ui` files it is `ParlanceTimelineList`, with the properties `alignment`, `inverted`, `follows-end` and
/// `maximum-row-width`. Call ``register()`` first; ``of(_:)`` returns the object of a widget.
///
/// Its accessible role is log, and the realized rows are its items, in order once the list has rested for 200 ms, or a
/// second after a change at the latest. Pooled rows are invisible then, because AT-SPI would find them if they were merely
/// unmapped. Limitations of GTK 4.8, as observed on the accessibility bus:
/// - `GTK_ACCESSIBLE_RELATION_SET_SIZE` and `POS_IN_SET` are accepted but not forwarded, so screen readers cannot say
///   "3 of 1,000". They are not set: most sources do not know their total number of rows.
/// - A list item does not derive its name from its content: the source sets each row's accessible label.
/// - There is no `gtk_accessible_announce` (4.14), and the log role alone makes no screen reader announce new rows: the
///   host announces them with ``Announcer``.
/// - Screen readers cannot see rows that are not realized: the arrow keys realize the next ones and move the focus
///   there.
///
/// Its CSS node is `timeline`, with the rows' nodes below. It requests no minimum width: a row wider than the list is
/// clipped.
public final class TimelineList: ScrollableImplementation {
    public override class var typeName: String { "ParlanceTimelineList" }
    public override class var cssName: String { "timeline" }
    public override class var role: GtkAccessibleRole { GTK_ACCESSIBLE_ROLE_LOG }
    public override class var properties: [WidgetProperty] { listProperties }

    let layout: RowLayout
    let anchoring: AnchoredPosition
    let scroller: Scroller
    private let rowFocus: RowFocus
    private let notifier: ListNotifier
    private let idleMeasuring: IdleMeasuring

    public required init(instance: WidgetInstance) {
        layout = RowLayout(list: instance)
        anchoring = AnchoredPosition(layout: layout)
        scroller = Scroller(list: instance, layout: layout, position: anchoring)
        rowFocus = RowFocus(list: instance, layout: layout, position: anchoring, scroller: scroller)
        notifier = ListNotifier(layout: layout, scroller: scroller, focus: rowFocus)
        idleMeasuring = IdleMeasuring(layout: layout, scroller: scroller)
        super.init(instance: instance)
        overflow = .hidden
        isFocusable = true
        rowFocus.addKeys(to: widget)
    }

    /// Registers the GType, for `.ui` files.
    public static func register() { _ = type }

    /// Creates a list and its widget.
    public static func create() -> (widget: Widget, list: TimelineList) {
        let widget = make()
        guard let list = of(widget) else { fatalError("ParlanceTimelineList has no implementation") }
        return (widget, list)
    }

    // MARK: Properties

    /// Where the rows go if they do not fill the viewport: `end`, the default, is the bottom.
    public var alignment: TimelineListEdge {
        get { layout.alignment }
        set { layout.alignment = newValue }
    }

    /// Whether the list opens at the end and keeps its bottom in place when the viewport is resized, as conversations
    /// do. The default is `true`; `false` opens at the start and keeps the top in place, for logs and documents.
    public var isInverted: Bool {
        get { anchoring.isInverted }
        set { anchoring.isInverted = newValue }
    }

    /// Whether the end, once in view, stays in view when rows are added or grow. The default is `true`; set it to
    /// `false` for a page of older history, whose last row is not the newest.
    public var followsEnd: Bool {
        get { anchoring.followsEnd }
        set { anchoring.followsEnd = newValue }
    }

    /// The maximum width of rows in pixels, or 0 for no limit. Rows are centered in a wider list.
    public var maxRowWidth: Int {
        get { layout.maxRowWidth }
        set { layout.maxRowWidth = newValue }
    }

    /// The source of the rows, not retained by the list. Setting it resets the list.
    public var source: (any TimelineListSource)? {
        get { layout.source }
        set {
            anchoring.replaceSource(by: newValue)
            reset()
        }
    }

    // MARK: Callbacks. Called from the main loop after a layout: they may change the list.

    /// Called when the visible rows or the viewport's distance from the end change, at most once per frame.
    public var onVisibleChange: (() -> Void)? {
        get { notifier.onVisibleChange }
        set { notifier.onVisibleChange = newValue }
    }
    /// Called when ``isAtEnd`` changes.
    public var onAtEndChange: ((Bool) -> Void)? {
        get { notifier.onAtEndChange }
        set { notifier.onAtEndChange = newValue }
    }
    /// Called when the viewport is within two viewport heights of an edge in ``moreRows``. Not called again for either
    /// edge before ``finishedLoading(_:hasMore:)``.
    public var onNeedsMore: ((TimelineListEdge) -> Void)? {
        get { notifier.onNeedsMore }
        set { notifier.onNeedsMore = newValue }
    }
    /// Called when an arrow key would move the focus past the first or last row. Returns whether it handled the key.
    public var onFocusLeaves: ((TimelineListEdge) -> Bool)? {
        get { rowFocus.onLeave }
        set { rowFocus.onLeave = newValue }
    }
    /// Called for each autoscroll step of ``dragScroll(at:)``.
    public var onDragScroll: (() -> Void)? {
        get { scroller.onDragScroll }
        set { scroller.onDragScroll = newValue }
    }

    /// Calls ``onVisibleChange`` although nothing has moved.
    package func notifyAgain() { notifier.notifyAgain() }

    // MARK: Changes of the rows

    /// Reports that the source has inserted `count` rows at `index`. The index is clamped to the existing rows.
    public func insert(at index: Int, count: Int) {
        guard count > 0 else { return }
        anchoring.insert(count, at: min(max(0, index), layout.index.rows))
        scroller.releaseThumb()
    }

    /// Reports that the source has removed `count` rows at `index`. The range is clamped to the existing rows.
    public func remove(at index: Int, count: Int) {
        let range = (max(0, index)..<max(0, index, index + count)).clamped(to: 0..<layout.index.rows)
        guard !range.isEmpty else { return }
        rowFocus.willRemove(range)
        anchoring.remove(range)
        scroller.releaseThumb()
    }

    /// Reports that the content of these rows has changed while their keys have not.
    public func update(at index: Int, count: Int = 1) { layout.update(index..<(index + max(0, count))) }

    /// Keeps the top of a row in place in the next layout, instead of the rows below it. Call this before a row in view
    /// expands or collapses at the user's request: what was clicked stays under the pointer.
    public func holdTop(of key: AnyHashable) { anchoring.holdTop(of: key) }

    /// Reports that anything may have changed. The scroll position is preserved if the anchor's row, or another row in
    /// view, still exists.
    public func reset() {
        anchoring.reset()
        notifier.paging.reset()
        scroller.releaseThumb()
    }

    /// Reports that all rows of the source were replaced, such as by those of another conversation. The list behaves like
    /// a new one, but reuses its row widgets.
    public func replaceRows() {
        scroller.forget()
        rowFocus.forget()
        anchoring.replaceRows()
        notifier.forget()
    }

    /// The edges at which the source can load more rows. Empty by default.
    public var moreRows: Set<TimelineListEdge> {
        get { notifier.paging.more }
        set {
            notifier.paging.more = newValue
            queueAllocate()
        }
    }

    /// Reports that the rows requested by ``onNeedsMore`` have arrived, or that loading has failed.
    public func finishedLoading(_ edge: TimelineListEdge, hasMore: Bool) {
        notifier.paging.finished(edge, hasMore: hasMore)
        queueAllocate()
    }

    // MARK: Scrolling

    /// Whether a wheel, touch or kinetic scroll is in progress.
    public var isMoving: Bool { scroller.isMoving }

    /// Scrolls to the last row, and stays at the end if ``followsEnd`` is set.
    public func scrollToEnd(animated: Bool = false) { scroller.scrollToEnd(animated: animated) }

    /// Scrolls to the first row.
    public func scrollToStart(animated: Bool = false) { scroller.go(to: .row(0, .start, 0), animated: animated) }

    /// Scrolls to a row.
    /// - Returns: `false` if the source has no such row; the position is then unchanged.
    @discardableResult
    public func scroll(to key: AnyHashable, at placement: TimelineListPlacement, animated: Bool = false) -> Bool {
        guard let row = existingRow(key) else { return false }
        scroller.scroll(toRow: row, at: placement, animated: animated)
        return true
    }

    /// Scrolls to the row at an index.
    /// - Parameter index: Clamped to the existing rows.
    public func scroll(toIndex index: Int, at placement: TimelineListPlacement, animated: Bool = false) {
        guard count > 0 else { return }
        scroller.scroll(toRow: max(0, min(index, count - 1)), at: placement, animated: animated)
    }

    /// Moves the viewport down by `pixels`, or up if negative, as scrolling by the user does.
    public func scroll(by pixels: Double) { scroller.scroll(by: pixels) }

    /// Scrolls by 90% of the viewport per page, which leaves some overlap. The focus stays on its row.
    /// - Parameter pages: Negative to scroll up.
    public func scrollPage(_ pages: Double) { scroller.scrollPage(pages) }

    /// Autoscrolls during a drag, such as a selection, while `y` is near or beyond an edge; the speed grows with the
    /// distance.
    ///
    /// Call it for each motion event with `y` in the list's coordinates. Each step calls ``onDragScroll``. End it with
    /// ``endDragScroll()``.
    public func dragScroll(at y: Double) { scroller.dragScroll(at: y) }

    public func endDragScroll() { scroller.endDragScroll() }

    /// The scroll position, for ``restore(_:)``, also across restarts.
    public var position: TimelineListPosition { anchoring.saved }

    /// Scrolls to a saved ``position``.
    /// - Returns: `false` if its row no longer exists; the position is then unchanged.
    @discardableResult
    public func restore(_ position: TimelineListPosition) -> Bool {
        switch position {
        case .end: scrollToEnd()
        case .row(let key, let below):
            guard let row = existingRow(key) else { return false }
            scroller.go(to: .row(row, .end, below))
        }
        return true
    }

    private func existingRow(_ key: AnyHashable) -> Int? {
        source?.index(of: key).flatMap { (0..<count).contains($0) ? $0 : nil }
    }

    // MARK: Focus

    /// The index of the row that is focused or contains the focus, or `nil`.
    public var focusedRow: Int? { rowFocus.focusedRow }

    /// Focuses a row, scrolling as little as necessary.
    /// - Returns: `false` if there is no such row or it is not focusable.
    @discardableResult
    public func focus(_ key: AnyHashable) -> Bool { source?.index(of: key).map(rowFocus.focus) ?? false }

    /// Focuses the row that had the focus last if it is in view, otherwise the last focusable row in view.
    @discardableResult
    public func focusVisible() -> Bool { rowFocus.focusVisible() }

    // MARK: Viewport

    public var count: Int { layout.index.rows }

    /// Whether the last row's bottom edge is in view.
    public var isAtEnd: Bool { layout.isAtEnd }

    /// The height of the content above the viewport in pixels, estimated where rows are unmeasured.
    public var distanceFromStart: Double { layout.viewport.extent.above }
    /// The height of the content below the viewport in pixels, estimated where rows are unmeasured.
    public var distanceFromEnd: Double { layout.viewport.extent.below }

    /// The rows at least partly in view at the last layout.
    public var visibleRows: Range<Int> { layout.visibleRows }

    /// Whether row positions are up to date.
    package var isLaidOut: Bool { layout.isCurrent }

    /// Whether the rows' widgets are in row order, as they are once the list rests.
    package var isInOrder: Bool { layout.realized.isInOrder }

    /// The row bound to `key`, or `nil` if it is not realized.
    public func row(for key: AnyHashable) -> (any TimelineListRow)? {
        layout.realized.rows.first { $0.key == key }?.row
    }

    /// The position of a row in pixels from the viewport's top, or `nil` if it is not realized.
    public func bounds(of key: AnyHashable) -> (top: Double, height: Double)? {
        guard let row = layout.realized.rows.first(where: { $0.key == key && $0.isPositioned }) else { return nil }
        return (row.top, Double(row.height))
    }

    /// The row at `y` pixels from the viewport's top, or `nil` if there is none.
    /// - Parameter nearest: Whether a point outside all rows hits the nearest row.
    public func row(at y: Double, nearest: Bool = false) -> TimelineListHit? {
        let rows = layout.rowsInView
        guard let first = rows.first, let last = rows.last else { return nil }
        if !nearest, y < first.top || y >= last.bottom { return nil }
        let row = rows.first { y < $0.bottom } ?? last
        return TimelineListHit(index: row.index, key: row.key, row: row.row, y: y - row.top)
    }

    /// Whether measuring, a notification or an animation is pending. For tests and screenshots.
    public var isBusy: Bool { idleMeasuring.isPending || notifier.isPending || anchoring.isAnimating }

    /// Counters for tests and benchmarks: the bindings, the row widgets created, and the row widgets that exist.
    public var statistics: (bindings: Int, made: Int, widgets: Int) {
        (layout.realized.bindings, layout.realized.made, layout.realized.widgetCount)
    }

    /// The realized rows by key, for changes of appearance that do not need a rebind.
    public var realizedRows: [(key: AnyHashable, row: any TimelineListRow)] {
        layout.realized.rows.map { ($0.key, $0.row) }
    }

    // MARK: GtkWidget

    public override class func initialize(_ widgetClass: UnsafeMutablePointer<GtkWidgetClass>) {
        super.initialize(widgetClass)
        overrideFocus(widgetClass)
    }

    public override func measure(_ orientation: Orientation, for size: Int) -> SizeRequest {
        switch orientation {
        case .horizontal: return SizeRequest(minimum: 0, natural: maxRowWidth)
        case .vertical:
            // GtkScrolledWindow uses the minimum height to guess whether it needs a scrollbar: 0 would make every
            // layout start at a wrong width and measure all rows twice. A scrolled window that propagates its natural
            // height has a limit far below this one.
            let height = Int(min(layout.index.total, 100_000))
            return SizeRequest(minimum: height, natural: height)
        }
    }

    public override func allocate(width: Int, height: Int) {
        guard width > 0, height > 0 else { return }
        checkCount()
        layout.isEstimateFrozen = scroller.isThumbDragged
        let rowWidth = layout.viewport.rowWidth
        anchoring.layOut(width: width, height: height)
        if layout.viewport.rowWidth != rowWidth { scroller.releaseThumb() }
        configureAdjustment()
        layout.show()
        notifier.schedule()
        idleMeasuring.schedule()
    }

    /// Guards against a source whose count differs from the changes it has reported: binding would run past its rows.
    private func checkCount() {
        let reported = source?.count ?? 0
        guard reported != count else { return }
        let message = "TimelineList: the source has \(reported) rows but told of \(count); all are read anew"
        Log.warn(message)
        reset()
    }

    private func configureAdjustment() {
        guard let value = verticalAdjustment?.value else { return }
        let bounds = scroller.bounds(around: value)
        configure(value: value, lower: bounds.lower, upper: bounds.upper, pageSize: layout.viewport.height)
        scroller.configured(to: verticalAdjustment?.value)
    }

    public override func snapshot(_ snapshot: Snapshot) {
        for row in layout.rowsInView { snapshot.draw(row.widget, of: self) }
    }

    public override func scrolled(to value: Double) { scroller.userScrolled(to: value) }

    public override func dispose() {
        idleMeasuring.stop()
        notifier.stop()
        scroller.stop()
        rowFocus.onLeave = nil
        layout.realized.removeAll(from: source)
        layout.realized.stopOrdering()
        super.dispose()
    }

    private static func overrideFocus(_ widgetClass: UnsafeMutablePointer<GtkWidgetClass>) {
        widgetClass.pointee.focus = { widget, direction in
            nonisolated(unsafe) let widget = widget
            return MainActor.assumeIsolated {
                guard let widget, let list = TimelineList.of(Widget(borrowing: widget)) else { return gboolean(0) }
                return list.rowFocus.move(in: FocusDirection(direction)) ? 1 : 0
            }
        }
        widgetClass.pointee.grab_focus = { widget in
            nonisolated(unsafe) let widget = widget
            return MainActor.assumeIsolated {
                guard let widget, let list = TimelineList.of(Widget(borrowing: widget)) else { return gboolean(0) }
                if list.focusVisible() { return 1 }
                list.root?.focus = list.widget
                return 1
            }
        }
    }
}
