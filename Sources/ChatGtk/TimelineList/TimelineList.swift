public import CGtk
public import GtkKit

/// A list of any length whose reading position never moves by itself. To be put into a `GtkScrolledWindow`.
///
/// Rows are widgets of any height, made and bound by a ``TimelineListSource``; only those in and near the viewport
/// exist, and they are used again. What the list holds to is an anchor: the end, or one row's edge and its distance
/// from the viewport's. Rows that come, go or change their height anywhere else do not move that row by a pixel, and
/// the adjustment's value is changed by nobody but the user: its bounds float around it. Never keep an adjustment's
/// value to come back to a place: keep a ``position``.
///
/// In a `.ui` file it is a `ParlanceTimelineList` with the properties `alignment`, `inverted`, `follows-end` and
/// `maximum-row-width`, once ``register()`` was called; ``of(_:)`` then finds this object.
///
/// For assistive technology it is a log, and the rows that exist at present are its items, in their order; rows out of
/// use are invisible, as AT-SPI would find them if they were only not mapped. What GTK 4.8 lacks, found by looking at
/// what arrives on the accessibility bus:
/// - `GTK_ACCESSIBLE_RELATION_SET_SIZE` and `POS_IN_SET` are taken but not handed on, so that no reader says "3 of
///   1,000". They are not set: most sources do not know how many rows there are.
/// - A list item has no name of its own, whatever is in it: the source gives each row its accessible label.
/// - There is no `gtk_accessible_announce` (4.14), and the role alone makes no reader tell what comes: the host says
///   it once, by ``Announcer``.
/// - Nothing tells a reader of rows that do not exist yet: the arrow keys make the next ones and move the focus there.
///
/// Its CSS node is `timeline`, with the rows' nodes below. It never asks for a width of its own: a row that needs
/// more than there is, is cut off at the side.
public final class TimelineList: ScrollableImplementation {
    public override class var typeName: String { "ParlanceTimelineList" }
    public override class var cssName: String { "timeline" }
    public override class var role: GtkAccessibleRole { GTK_ACCESSIBLE_ROLE_LOG }

    /// What stays where it is.
    enum Anchor: Equatable {
        /// The last row's bottom edge is at the viewport's bottom.
        case end
        /// A row's edge, from the same edge of the viewport, in pixels downwards.
        case row(Int, TimelineListEdge, Double)
        /// The row's middle is in the viewport's.
        case center(Int)
    }

    // MARK: Properties

    /// Where rows lie that do not fill the viewport: at its bottom (`end`, unless told otherwise) or its top.
    public var alignment = TimelineListEdge.end { didSet { queueLayout() } }

    /// As conversations want it (true, unless told otherwise): opens at the end, and holds to the bottom when the
    /// viewport's height changes. False, for logs and documents: opens at the start and holds to the top.
    public var isInverted = true { didSet { if oldValue != isInverted { returnHome() } } }

    /// Whether the end, once in view, stays in view when rows come or grow. True unless told otherwise; false for a
    /// window into the past, whose last row is not the newest.
    public var followsEnd = true { didSet { if !followsEnd { leaveEnd() } } }

    /// The widest that rows get, in pixels; they lie in the middle of a wider list. 0 for no limit.
    public var maximumRowWidth = 0 { didSet { queueLayout() } }

    /// What the rows come from. Not kept alive by the list. Setting it is a ``reset()``.
    public weak var source: (any TimelineListSource)? {
        didSet {
            realized.removeAll(from: oldValue)
            index.reset(rows: 0)
            returnHome()
            reset()
        }
    }

    // MARK: Notices. All come after a layout, from the main loop: the list may be changed in them.

    /// The rows in view have changed, or the viewport's distance from the end. At most once a frame.
    public var onVisibleChange: (() -> Void)?
    /// Whether the end is in view has changed.
    public var onAtEndChange: ((Bool) -> Void)?
    /// The rows end within two viewports of what is in view, on a side of which ``moreRows`` says that there are more.
    /// Not called again for either side before ``finishedLoading(_:hasMore:)``.
    public var onNeedsMore: ((TimelineListEdge) -> Void)?
    /// An arrow key asks for the row before the first or after the last one. Answers whether the focus went somewhere.
    public var onFocusLeaves: ((TimelineListEdge) -> Bool)?
    /// The viewport moves because a drag is at its edge, see ``dragScroll(at:)``.
    public var onDragScroll: (() -> Void)?

    // MARK: State. Everything below is the list's own.

    private(set) lazy var realized = RealizedRows(list: pointer)
    var index = HeightIndex()
    var anchor = Anchor.end
    /// The row that was brought into view and stays there when the list becomes lower, until something else moves it.
    var pinnedKey: AnyHashable?
    /// Added to where the anchor would be, in pixels: what is left of an animation.
    var displacement = 0.0
    var animation: ScrollAnimation?
    var dragScroll: DragScroll?
    var thumb = ThumbSteadiness()
    var paging = TimelineListPaging()
    var idleMeasuring: Timeout?
    var notificationTimeout: Timeout?
    var noticed = TimelineListNotifiedState()
    /// The viewport's size and what lies outside of it, at the last layout.
    var viewport = TimelineListViewport()
    /// The adjustment's value that the anchor accounts for.
    /// When the user last scrolled: the frame, and the time in microseconds.
    var lastMove: (frame: gint64, time: gint64)?
    var lastValue: Double?
    /// The row that has or had the focus, to come back to.
    var focusedKey: AnyHashable?
    /// Where to put the focus after the next layout, because its row is gone.
    var refocusIndex: Int?
    /// Whether the next layout may make, show and hide rows, see ``queueLayout()``.
    var canRealize = true
    /// 1 when scrolling down last, -1 when up: where rows are measured ahead first.
    var heading = -1

    public required init(pointer: UnsafeMutableRawPointer) {
        super.init(pointer: pointer)
        gtk_widget_set_overflow(cast(), GTK_OVERFLOW_HIDDEN)
        gtk_widget_set_focusable(cast(), 1)
        addKeys()
    }

    /// Makes the type known, so that `.ui` files may name it.
    public static func register() { _ = type }

    /// A new list and its widget.
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

    // MARK: What GTK asks

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
            // A scrolled window guesses from the least height whether its scrollbar takes some of the width: 0 would
            // have every layout begin at a width that is not the final one, with all rows measured for both.
            // One that asks for its content's height has a limit far below this one.
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

    /// Where the list is when nobody has scrolled.
    func returnHome() {
        anchor = isInverted && followsEnd ? .end : isInverted ? .row(.max, .end, 0) : .row(0, .start, 0)
        displacement = 0
        queueLayout()
    }

    private func leaveEnd() {
        if anchor == .end { anchor = .row(max(0, index.rows - 1), .end, 0) }
    }

    // MARK: What is in view

    public var count: Int { index.rows }

    /// Whether the last row's bottom edge is in view.
    public var isAtEnd: Bool { viewport.extent.below < 0.5 }

    /// Pixels of content above the viewport, as far as heights are known.
    public var distanceFromStart: Double { viewport.extent.above }
    /// Pixels of content below the viewport, as far as heights are known.
    public var distanceFromEnd: Double { viewport.extent.below }

    /// The rows of which at least a pixel is in view, as of the last layout.
    public var visibleRows: Range<Int> {
        let rows = realized.rows.filter { $0.isPositioned && $0.bottom > 0 && $0.top < viewport.height }
        guard let first = rows.first, let last = rows.last else { return 0..<0 }
        return first.index..<(last.index + 1)
    }

    /// The row that shows this key, if it has a widget at present.
    public func row(for key: AnyHashable) -> (any TimelineListRow)? {
        realized.rows.first { $0.key == key }?.row
    }

    /// Where a row is, in pixels from the viewport's top, nil if it has no widget at present.
    public func bounds(of key: AnyHashable) -> (top: Double, height: Double)? {
        guard let row = realized.rows.first(where: { $0.key == key && $0.isPositioned }) else { return nil }
        return (row.top, Double(row.height))
    }

    /// The row at `y` pixels below the list's top, in the coordinates of a gesture on the list.
    /// - Parameter nearest: whether a point outside of all rows finds the row nearest to it.
    public func row(at y: Double, nearest: Bool = false) -> TimelineListHit? {
        let rows = realized.rows.filter { $0.isPositioned && $0.bottom > 0 && $0.top < viewport.height }
        guard let first = rows.first, let last = rows.last else { return nil }
        if !nearest, y < first.top || y >= last.bottom { return nil }
        let row = rows.first { y < $0.bottom } ?? last
        return TimelineListHit(index: row.index, key: row.key, row: row.row, y: y - row.top)
    }

    /// Whether rows are still to be measured ahead of scrolling, or notices to be given. For tests and screenshots.
    public var isBusy: Bool {
        idleMeasuring?.isPending == true || notificationTimeout?.isPending == true || animation != nil
    }

    /// How much was done so far, for tests and benchmarks: how often rows were bound, how many row widgets were made
    /// and how many there are.
    public var statistics: (bindings: Int, made: Int, widgets: Int) {
        (realized.bindings, realized.made, realized.widgetCount)
    }

    /// All rows that have a widget at present, by their keys. For changes of looks that are not worth an update.
    public var realizedRows: [(key: AnyHashable, row: any TimelineListRow)] {
        realized.rows.map { ($0.key, $0.row) }
    }
}
