import CGtk
import GtkTestSupport
import XCTest

@testable import GtkKit
@testable import TimelineGtk

/// A row with an adjustable height that counts its measurements and paints.
@MainActor
final class TestRowImplementation: WidgetImplementation {
    override class var typeName: String { "ParlanceTestStrip" }
    static var instanceCount = 0
    /// How often a height was measured, which stands for a text layout.
    static var layouts = 0
    var pixels = 20
    /// How often the row was painted.
    private(set) var paintings = 0

    required init(instance: WidgetInstance) {
        super.init(instance: instance)
        Self.instanceCount += 1
        gtk_widget_set_focusable(cast(), 1)
    }

    isolated deinit { Self.instanceCount -= 1 }

    override func snapshot(_ snapshot: Snapshot) {
        paintings += 1
        super.snapshot(snapshot)
    }

    override func measure(_ orientation: Orientation, for size: Int) -> SizeRequest {
        guard orientation == .vertical else { return SizeRequest(minimum: 40, natural: 40) }
        Self.layouts += 1
        // Narrower than 300 pixels, the content wraps.
        let height = size > 0 && size < 300 ? pixels * 300 / size : pixels
        return SizeRequest(minimum: height, natural: height)
    }
}

@MainActor
final class TestRow: TimelineListRow {
    let widget = TestRowImplementation.make()
    var key: Int?
    /// The paint count at the last binding.
    var paintingsWhenBound = 0

    func setPixels(_ pixels: Int) {
        TestRowImplementation.of(widget)?.pixels = pixels
        widget.queueResize()
    }
}

/// An in-memory source of rows with given heights.
@MainActor
final class TestRowSource: TimelineListSource {
    private(set) var keys: [Int] = []
    private(set) var heights: [Int: Int] = [:]
    private var nextKey = 0
    weak var list: TimelineList?
    var unfocusable: Set<Int> = []

    var count: Int { keys.count }
    func key(at index: Int) -> AnyHashable { keys[index] }
    func index(of key: AnyHashable) -> Int? { keys.firstIndex { AnyHashable($0) == key } }
    func kind(at index: Int) -> Int { keys[index] % 3 }
    func makeRow(kind: Int) -> any TimelineListRow { TestRow() }
    func canFocus(at index: Int) -> Bool { !unfocusable.contains(keys[index]) }

    func bind(_ row: any TimelineListRow, at index: Int) {
        guard let testRow = row as? TestRow else { return }
        testRow.key = keys[index]
        testRow.paintingsWhenBound = TestRowImplementation.of(testRow.widget)?.paintings ?? 0
        testRow.setPixels(heights[keys[index]] ?? 20)
    }

    func unbind(_ row: any TimelineListRow) { (row as? TestRow)?.key = nil }

    func insert(_ new: [Int], at index: Int) {
        let fresh = Array(nextKey..<(nextKey + new.count))
        nextKey += new.count
        for (key, height) in zip(fresh, new) { heights[key] = height }
        keys.insert(contentsOf: fresh, at: index)
        list?.insert(at: index, count: new.count)
    }

    func remove(at index: Int, count: Int) {
        keys.removeSubrange(index..<(index + count))
        list?.remove(at: index, count: count)
    }

    func resize(_ index: Int, to height: Int) {
        heights[keys[index]] = height
        list?.update(at: index)
    }

    /// Shows other rows altogether.
    func show(_ new: [Int]) {
        keys = Array(nextKey..<(nextKey + new.count))
        nextKey += new.count
        for (key, height) in zip(keys, new) { heights[key] = height }
        list?.replaceRows()
    }

    /// Replaces all rows with a reset, without reporting individual changes.
    func replace(_ keys: [Int]) {
        self.keys = keys
        list?.reset()
    }
}

/// A list in a scrolled window.
@MainActor
final class TimelineListBench {
    let source = TestRowSource()
    let scroller: ScrolledWindow
    let widget: Widget
    let list: TimelineList
    let window: TestWindow
    private var painted = 0
    /// The size in pixels that the window was asked to have.
    private var askedSize: (width: Int, height: Int)?

    /// - Parameter content: the window's child; it must contain the scrolled window. By default the scrolled window
    /// itself.
    init(
        _ heights: [Int], width: Int32 = 320, height: Int32 = 400,
        scroller: ScrolledWindow = ScrolledWindow(sinking: gtk_scrolled_window_new()), content: Widget? = nil,
        _ setUp: (TimelineList) -> Void = { _ in }
    ) {
        self.scroller = scroller
        (widget, list) = TimelineList.create()
        source.list = list
        setUp(list)
        source.insert(heights, at: 0)
        list.source = source
        gtk_scrolled_window_set_policy(scroller.cast(), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        scroller.setChild(widget)
        window = TestWindow(content ?? scroller, width: width, height: height)
        waitUntilIdle()
    }

    static func heights(_ count: Int) -> [Int] { (0..<count).map { 20 + $0 * 37 % 61 } }

    /// Returns a bench scrolled to the middle of 300 rows.
    static func reading() -> TimelineListBench {
        let bench = TimelineListBench(heights(300))
        bench.scroll(by: -3000.3)
        bench.waitUntilIdle()
        XCTAssertFalse(bench.list.isAtEnd)
        return bench
    }

    /// Runs `body` and checks in every painted frame that the scroll anchor does not move.
    func checkStill(_ what: String, line: UInt = #line, _ body: () -> Void) {
        let key = readKey
        let place = bottom(key) - height
        body()
        waitUntilIdle { XCTAssertEqual(self.bottom(key) - self.height, place, what, line: line) }
        XCTAssertEqual(bottom(key) - height, place, what, line: line)
    }

    var adjustment: Adjustment { scroller.verticalAdjustment }
    var height: Double { Double(widget.height) }

    /// Asks for another size. ``waitUntilIdle(_:)`` counts frames from when the window manager has given it to the window.
    func resize(width: Int, height: Int) {
        gtk_window_set_default_size(window.window.cast(), Int32(width), Int32(height))
        askedSize = (width, height)
    }

    /// Waits for three frames, enough for all queued work.
    func waitUntilIdle(_ onFrame: @escaping @MainActor () -> Void = {}) {
        var frames = 0
        let clock = Object(borrowing: UnsafeMutableRawPointer(gtk_widget_get_frame_clock(widget.cast())))
        let connection = clock.connect("after-paint") { _ in onFrame() }
        widget.addTick { [weak self] in
            guard let self else { return false }
            if let size = askedSize, (scroller.width, scroller.height) != (size.width, size.height) { return true }
            askedSize = nil
            frames += 1
            return frames < 4
        }
        _ = MainLoop.pump { frames >= 4 }
        connection.disconnect()
        XCTAssertTrue(askedSize == nil, "the window was not resized")
    }

    /// Waits until scrolling stops; a click on the scrollbar animates.
    func rest() {
        var before = -1.0
        while before != adjustment.value - adjustment.lower {
            before = adjustment.value - adjustment.lower
            for _ in 0..<3 { waitUntilIdle() }
            becomeIdle()
        }
    }

    /// Allocates the list synchronously, as a frame would.
    func layOut() {
        var place = GdkRectangle(x: 0, y: 0, width: Int32(widget.width), height: Int32(widget.height))
        widget.queueAllocate()
        gtk_widget_size_allocate(widget.cast(), &place, -1)
    }

    /// Waits until the surrounding rows are measured.
    func becomeIdle() {
        _ = MainLoop.pump { !self.list.isBusy }
    }

    /// The height of the scrollbar's thumb in pixels.
    var thumbHeight: Double {
        guard let bar = gtk_scrolled_window_get_vscrollbar(scroller.cast()) else { return .nan }
        var parts = [Widget(borrowing: bar)]
        while let part = parts.popLast() {
            if String(cString: gtk_widget_get_css_name(part.cast())) == "slider" { return Double(part.height) }
            parts += part.children
        }
        return .nan
    }

    func scroll(by pixels: Double) { adjustment.value += pixels }

    /// Returns the top edge of a row's widget in the viewport, or NaN if the row is not visible.
    func top(_ key: Int) -> Double {
        guard let row = list.row(for: key), let bounds = row.widget.bounds(in: scroller) else { return .nan }
        return bounds.y
    }

    func bottom(_ key: Int) -> Double {
        guard let row = list.row(for: key), let bounds = row.widget.bounds(in: scroller) else { return .nan }
        return bounds.y + bounds.height
    }

    /// The keys of the visible rows, from top to bottom.
    var visibleKeys: [Int] { list.visibleRows.map { source.keys[$0] } }
    /// The key of the scroll anchor: the last row whose bottom edge is visible.
    var readKey: Int { visibleKeys.last { bottom($0) <= height } ?? visibleKeys[0] }
    var lastKey: Int { source.keys[source.count - 1] }

    func close() { window.close() }
}
