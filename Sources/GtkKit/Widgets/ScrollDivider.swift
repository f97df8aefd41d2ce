import CGtk

/// The axis along which a scrolled window scrolls.
public enum ScrollAxis: Sendable {
    case upright
    case sideways
}

extension ScrolledWindow {
    /// Restricts scrolling to one axis; the other is left to enclosing and nested scrolled windows.
    ///
    /// A GtkScrolledWindow consumes every wheel event over it, even along an axis in which it cannot scroll, and every
    /// touchpad gesture from its first event on. When windows of different axes are nested, call this on both. Shift
    /// swaps the axes of a wheel.
    public func handleScrolling(only axis: ScrollAxis) {
        ScrollDivider(axis, of: self).listen(on: self)
    }
}

/// Inspects scroll events in the capture phase, and disables GTK's own controllers for events along the other axis.
private final class ScrollDivider {
    private let axis: ScrollAxis
    private let controllers: [(controller: Object, flags: UInt32)]
    /// The initial axis of a touchpad gesture, which applies until the fingers lift.
    private var course: (axis: ScrollAxis, isShifted: Bool)?

    init(_ axis: ScrollAxis, of window: ScrolledWindow) {
        self.axis = axis
        // Overlay scrollbars have scroll controllers of their own, which react to both axes.
        let bars = [
            gtk_scrolled_window_get_hscrollbar(window.cast()), gtk_scrolled_window_get_vscrollbar(window.cast()),
        ]
        let ranges = bars.compactMap { $0.flatMap(gtk_widget_get_first_child) }.map { Widget(borrowing: $0) }
        controllers = ([window] + ranges).flatMap(Self.controllers)
    }

    private static func controllers(of widget: Widget) -> [(controller: Object, flags: UInt32)] {
        let model = Object(owning: UnsafeMutableRawPointer(gtk_widget_observe_controllers(widget.cast())))
        return (0..<g_list_model_get_n_items(model.cast())).compactMap { index in
            guard let item = g_list_model_get_item(model.cast(), index) else { return nil }
            let controller = Object(owning: item)
            guard shim_is_a(item, gtk_event_controller_scroll_get_type()) != 0 else { return nil }
            let flags = gtk_event_controller_scroll_get_flags(controller.cast())
            return (controller, UInt32(flags.rawValue))
        }
    }

    func listen(on window: ScrolledWindow) {
        let scroll = ScrollController(.both)
        // GTK runs the most recently added controller first.
        scroll.phase = .capture
        scroll.onScroll { [self] event in
            divide(event)
            return false
        }
        // Restores the flags so that GTK's controllers receive the end of a gesture that they may have started.
        scroll.onScrollEnd { [self] in
            course = nil
            for (controller, flags) in controllers { Self.set(flags, controller) }
        }
        window.addController(scroll)
        // No scroll-end arrives if the fingers lift outside of the window.
        let motion = MotionController()
        motion.onLeave { [self] in course = nil }
        window.addController(motion)
    }

    private func divide(_ event: PointerEvent<ScrollController>) {
        let isShifted = event.modifiers.contains(.shift)
        let goes: ScrollAxis = (abs(event.x) > abs(event.y)) != isShifted ? .sideways : .upright
        let device = gtk_event_controller_get_current_event_device(event.controller.cast())
        // Wheels have discrete steps and no scroll-end: decide for each event.
        let isWheel = device.map { gdk_device_get_source($0) == GDK_SOURCE_MOUSE } ?? true
        if isWheel || course?.isShifted != isShifted { course = (goes, isShifted) }
        let isOwn = course?.axis == axis
        let other =
            axis == .upright ? GTK_EVENT_CONTROLLER_SCROLL_HORIZONTAL : GTK_EVENT_CONTROLLER_SCROLL_VERTICAL
        for (controller, flags) in controllers {
            // With Shift, GTK swaps the axes after its controllers have filtered by flags, so keep both.
            Self.set(!isOwn ? 0 : isShifted ? flags : flags & ~UInt32(other.rawValue), controller)
        }
    }

    private static func set(_ flags: UInt32, _ controller: Object) {
        gtk_event_controller_scroll_set_flags(
            controller.cast(), GtkEventControllerScrollFlags(rawValue: GtkEventControllerScrollFlags.RawValue(flags)))
    }
}
