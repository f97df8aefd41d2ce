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
/// Its accessible role is log, and the realized rows are its items, in order. Pooled rows are invisible, because AT-SPI
/// would find them if they were merely unmapped. Limitations of GTK 4.8, as observed on the accessibility bus:
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

    /// What the layout keeps in place.
    enum Anchor: Equatable {
        /// The last row's bottom edge at the viewport's bottom.
        case end
        /// A row's edge, and its distance downwards from the same edge of the viewport, in pixels.
        case row(Int, TimelineListEdge, Double)
        /// The row's center at the viewport's center.
        case center(Int)
    }

    // MARK: Properties

    /// Where the rows go if they do not fill the viewport: `end`, the default, is the bottom.
    public var alignment = TimelineListEdge.end { didSet { queueLayout() } }

    /// Whether the list opens at the end and keeps its bottom in place when the viewport is resized, as conversations
    /// do. The default is `true`; `false` opens at the start and keeps the top in place, for logs and documents.
    public var isInverted = true { didSet { if oldValue != isInverted { returnHome() } } }

    /// Whether the end, once in view, stays in view when rows are added or grow. The default is `true`; set it to
    /// `false` for a page of older history, whose last row is not the newest.
    public var followsEnd = true { didSet { if !followsEnd { leaveEnd() } } }

    /// The maximum width of rows in pixels, or 0 for no limit. Rows are centered in a wider list.
    public var maximumRowWidth = 0 { didSet { queueLayout() } }

    /// The source of the rows, not retained by the list. Setting it resets the list.
    public weak var source: (any TimelineListSource)? {
        didSet {
            realized.removeAll(from: oldValue)
            index.reset(rows: 0)
            returnHome()
            reset()
        }
    }

    // MARK: Callbacks. Called from the main loop after a layout: they may change the list.

    /// Called when the visible rows or the viewport's distance from the end change, at most once per frame.
    public var onVisibleChange: (() -> Void)?
    /// Called when ``isAtEnd`` changes.
    public var onAtEndChange: ((Bool) -> Void)?
    /// Called when the viewport is within two viewport heights of an edge in ``moreRows``. Not called again for either
    /// edge before ``finishedLoading(_:hasMore:)``.
    public var onNeedsMore: ((TimelineListEdge) -> Void)?
    /// Called when an arrow key would move the focus past the first or last row. Returns whether it handled the key.
    public var onFocusLeaves: ((TimelineListEdge) -> Bool)?
    /// Called for each autoscroll step of ``dragScroll(at:)``.
    public var onDragScroll: (() -> Void)?

    // MARK: Internal state

    private(set) lazy var realized = RealizedRows(list: pointer)
    var index = HeightIndex()
    var anchor = Anchor.end
    /// The row that was scrolled into view and stays there when the list shrinks, until the next scroll.
    var pinnedKey: AnyHashable?
    /// The remaining distance of the animation, in pixels, added to the anchor's position.
    var displacement = 0.0
    var animation: ScrollAnimation?
    var dragScroll: DragScroll?
    var thumb = ThumbSteadiness()
    var paging = TimelineListPaging()
    var idleMeasuring: Timeout?
    var notificationTimeout: Timeout?
    var noticed = TimelineListNotifiedState()
    /// The viewport's size and the content outside it, at the last layout.
    var viewport = TimelineListViewport()
    /// When the user last scrolled: the frame counter, and the monotonic time in microseconds.
    var lastMove: (frame: gint64, time: gint64)?
    /// The adjustment's value that the anchor accounts for.
    var lastValue: Double?
    /// The row that has or last had the focus.
    var focusedKey: AnyHashable?
    /// The row to focus after the next layout, because the focused row was removed.
    var refocusIndex: Int?
    /// Whether the next layout may create, show and hide rows, see ``queueLayout()``.
    var canRealize = true
    /// The last scroll direction: 1 for down, -1 for up. Rows are measured ahead in this direction first.
    var heading = -1

    public required init(pointer: UnsafeMutableRawPointer) {
        super.init(pointer: pointer)
        gtk_widget_set_overflow(cast(), GTK_OVERFLOW_HIDDEN)
        gtk_widget_set_focusable(cast(), 1)
        addKeys()
    }

    /// Registers the GType, for `.ui` files.
    public static func register() { _ = type }

    /// Creates a list and its widget.
    public static func create() -> (widget: Widget, list: TimelineList) {
        let widget = make()
        guard let list = of(widget) else { fatalError("ParlanceTimelineList has no implementation") }
        return (widget, list)
    }

    public override func dispose() {
        idleMeasuring?.cancel()
        notificationTimeout?.cancel()
        animation = nil
        dragScroll = nil
        realized.removeAll(from: source)
        onVisibleChange = nil
        onAtEndChange = nil
        onNeedsMore = nil
        onFocusLeaves = nil
        onDragScroll = nil
        super.dispose()
    }

    // MARK: GtkWidget

    public override class func initialize(_ widgetClass: UnsafeMutablePointer<GtkWidgetClass>) {
        super.initialize(widgetClass)
        installProperties(widgetClass)
        overrideFocus(widgetClass)
    }

    public override func setOwnProperty(_ id: guint, _ value: UnsafePointer<GValue>) { applyProperty(id, value) }
    public override func getOwnProperty(_ id: guint, _ value: UnsafeMutablePointer<GValue>) { readProperty(id, value) }

    public override func measure(_ orientation: Orientation, for size: Int) -> SizeRequest {
        switch orientation {
        case .horizontal: SizeRequest(minimum: 0, natural: maximumRowWidth)
        case .vertical:
            // GtkScrolledWindow uses the minimum height to guess whether it needs a scrollbar: 0 would make every
            // layout start at a wrong width and measure all rows twice. A scrolled window that propagates its natural
            // height has a limit far below this one.
            SizeRequest(minimum: Int(min(index.total, 100_000)), natural: Int(min(index.total, 100_000)))
        }
    }

    public override func allocate(width: Int, height: Int) { layOut(width: width, height: height) }

    public override func snapshot(_ snapshot: OpaquePointer) {
        for row in realized.rows where isInView(row) {
            gtk_widget_snapshot_child(cast(), row.widget.cast(), snapshot)
        }
    }

    public override func scrolled(to value: Double) { userScrolled(to: value) }

    /// Returns to the initial position, as if nobody had scrolled.
    func returnHome() {
        anchor = isInverted && followsEnd ? .end : isInverted ? .row(.max, .end, 0) : .row(0, .start, 0)
        displacement = 0
        queueLayout()
    }

    private func leaveEnd() {
        if anchor == .end { anchor = .row(max(0, index.rows - 1), .end, 0) }
    }

    // MARK: Viewport

    public var count: Int { index.rows }

    /// Whether the last row's bottom edge is in view.
    public var isAtEnd: Bool { viewport.extent.below < 0.5 }

    /// The height of the content above the viewport in pixels, estimated where rows are unmeasured.
    public var distanceFromStart: Double { viewport.extent.above }
    /// The height of the content below the viewport in pixels, estimated where rows are unmeasured.
    public var distanceFromEnd: Double { viewport.extent.below }

    /// The rows at least partly in view at the last layout.
    public var visibleRows: Range<Int> {
        let rows = realized.rows.filter { $0.isPositioned && $0.bottom > 0 && $0.top < viewport.height }
        guard let first = rows.first, let last = rows.last else { return 0..<0 }
        return first.index..<(last.index + 1)
    }

    /// The row bound to `key`, or `nil` if it is not realized.
    public func row(for key: AnyHashable) -> (any TimelineListRow)? {
        realized.rows.first { $0.key == key }?.row
    }

    /// The position of a row in pixels from the viewport's top, or `nil` if it is not realized.
    public func bounds(of key: AnyHashable) -> (top: Double, height: Double)? {
        guard let row = realized.rows.first(where: { $0.key == key && $0.isPositioned }) else { return nil }
        return (row.top, Double(row.height))
    }

    /// The row at `y` pixels from the viewport's top, or `nil` if there is none.
    /// - Parameter nearest: Whether a point outside all rows hits the nearest row.
    public func row(at y: Double, nearest: Bool = false) -> TimelineListHit? {
        let rows = realized.rows.filter { $0.isPositioned && $0.bottom > 0 && $0.top < viewport.height }
        guard let first = rows.first, let last = rows.last else { return nil }
        if !nearest, y < first.top || y >= last.bottom { return nil }
        let row = rows.first { y < $0.bottom } ?? last
        return TimelineListHit(index: row.index, key: row.key, row: row.row, y: y - row.top)
    }

    /// Whether measuring, a notification or an animation is pending. For tests and screenshots.
    public var isBusy: Bool {
        idleMeasuring?.isPending == true || notificationTimeout?.isPending == true || animation != nil
    }

    /// Counters for tests and benchmarks: the bindings, the row widgets created, and the row widgets that exist.
    public var statistics: (bindings: Int, made: Int, widgets: Int) {
        (realized.bindings, realized.made, realized.widgetCount)
    }

    /// The realized rows by key, for changes of appearance that do not need a rebind.
    public var realizedRows: [(key: AnyHashable, row: any TimelineListRow)] {
        realized.rows.map { ($0.key, $0.row) }
    }
}
