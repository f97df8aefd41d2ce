import CGtk
import Composer
import GtkKit

/// Gives its child the height that it asks for, by and by: a line more or less moves the bar as a spring does (SLK-57).
///
/// Only what the child itself wants is followed slowly. A window that is resized counts at once.
final class GrowthFrame: WidgetImplementation {
    override class var typeName: String { "ParlanceGrowthFrame" }
    override class var cssName: String { "growth" }

    /// Whether the text bounces when it is written in; else it only slides.
    var bounces = true
    /// Whether the text has the focus.
    var isFocused: (() -> Bool)?
    /// Whether the frame is on its way to another height.
    var isMoving: Bool { movement != nil }

    private struct Movement {
        var start: Double
        var end: Int
        var transition: ResizeTransition
        /// Of the frame clock, in microseconds; nil before the first frame.
        var begin: Int64?
    }

    private var movement: Movement?
    /// The window's width and the height that hold, in pixels; nil before the first layout. The width of the child is
    /// no measure: it changes while a button beside it slides.
    private var settled: (window: Int, height: Double)?
    private var isTicking = false
    /// When it was mapped, or the window became wider or narrower, by the frame clock, in microseconds.
    private var shownAt: Int64?
    /// In microseconds.
    private static let settling: Int64 = 300_000

    override func add(_ child: Widget, to place: String?) -> Bool {
        gtk_widget_set_parent(child.cast(), cast())
        child.connect("map") { [weak self] _ in
            guard let self, let clock = gtk_widget_get_frame_clock(self.cast()) else { return }
            self.shownAt = Int64(gdk_frame_clock_get_frame_time(clock))
        }
        return true
    }

    override func measure(_ orientation: Orientation, for size: Int) -> SizeRequest {
        let asked = childSize(orientation, for: size)
        guard orientation == .vertical, let settled, settled.window == windowWidth, isAnimated else {
            return asked
        }
        let height = Int(settled.height.rounded())
        return SizeRequest(minimum: min(asked.minimum, height), natural: height)
    }

    override func allocate(width: Int, height: Int) {
        follow(width: width)
        guard let child = gtk_widget_get_first_child(cast()) else { return }
        let least = childSize(.vertical, for: width).minimum
        gtk_widget_allocate(child, Int32(width), Int32(max(height, least)), -1, nil)
    }

    /// Not where the user wants no animations, nor while a text view that has just come, or another width, finds out how tall it
    /// is (MCV-16).
    private var isAnimated: Bool {
        guard adw_get_enable_animations(cast()) != 0, gtk_widget_get_mapped(cast()) != 0, let shownAt,
            let clock = gtk_widget_get_frame_clock(cast())
        else { return false }
        return Int64(gdk_frame_clock_get_frame_time(clock)) - shownAt > Self.settling
    }

    private var windowWidth: Int {
        gtk_widget_get_root(cast()).map { Widget(borrowing: UnsafeMutableRawPointer($0)).width } ?? 0
    }

    private func childSize(_ orientation: Orientation, for size: Int) -> SizeRequest {
        guard let child = gtk_widget_get_first_child(cast()), gtk_widget_should_layout(child) != 0 else {
            return SizeRequest(minimum: 0, natural: 0)
        }
        var (minimum, natural): (Int32, Int32) = (0, 0)
        gtk_widget_measure(child, orientation.gtk, Int32(size), &minimum, &natural, nil, nil)
        return SizeRequest(minimum: Int(minimum), natural: Int(natural))
    }

    /// Sets out for the height that the child wants at this width.
    private func follow(width: Int) {
        let wanted = childSize(.vertical, for: width).natural
        let window = windowWidth
        let isFirst = settled?.window != window
        if isFirst, shownAt != nil, let clock = gtk_widget_get_frame_clock(cast()) {
            shownAt = Int64(gdk_frame_clock_get_frame_time(clock))
        }
        let transition = ResizeTransition.rule(
            bounces: bounces, isFocused: isFocused?() ?? false, isFirstLayout: isFirst, animationsEnabled: isAnimated)
        guard let settled, transition != .none else {
            let isOther = settled.map { Int($0.height.rounded()) != wanted } ?? false
            movement = nil
            settled = (window, Double(wanted))
            // What was answered may have been the height before.
            if isOther { tick() }
            return
        }
        guard wanted != movement?.end ?? Int(settled.height.rounded()) else { return }
        movement = Movement(start: settled.height, end: wanted, transition: transition)
        tick()
    }

    private func tick() {
        guard !isTicking else { return }
        isTicking = true
        widget.addTick { [weak self] in self?.step() ?? false }
    }

    /// - Returns: whether there is more to come.
    private func step() -> Bool {
        guard var movement, let window = settled?.window, let clock = gtk_widget_get_frame_clock(cast()) else {
            isTicking = false
            gtk_widget_queue_resize(cast())
            return false
        }
        let now = Int64(gdk_frame_clock_get_frame_time(clock))
        let begin = movement.begin ?? now
        movement.begin = begin
        let progress = movement.transition.progress(after: Double(now - begin) / 1_000_000)
        let height = movement.start + (Double(movement.end) - movement.start) * (progress ?? 1)
        settled = (window, max(0, height))
        self.movement = progress == nil ? nil : movement
        isTicking = progress != nil
        gtk_widget_queue_resize(cast())
        return isTicking
    }
}
