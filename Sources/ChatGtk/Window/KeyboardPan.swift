import CGtk
import GtkKit

/// Tracks a touch across a widget, from wherever it starts, even while a child scrolls with it.
///
/// Uses raw events: in GTK 4.24, a drag gesture receives no more events once a list below it has claimed the touch.
final class KeyboardPan {
    /// Called on each movement with the start and current position, in pixels from the widget's top.
    var onMove: ((_ start: Double, _ y: Double) -> Void)?

    private let touches = Object(owning: UnsafeMutableRawPointer(gtk_event_controller_legacy_new()))
    private var start: Double?

    init(over widget: Widget) {
        gtk_event_controller_set_propagation_phase(touches.cast(), GTK_PHASE_CAPTURE)
        touches.intercept("event") { [weak self] arguments in
            if let self, let event = arguments.pointer(0) { self.handle(OpaquePointer(event)) }
            return false
        }
        widget.addController(touches)
    }

    private func handle(_ event: OpaquePointer) {
        let type = gdk_event_get_event_type(event)
        guard [GDK_TOUCH_BEGIN, GDK_TOUCH_UPDATE, GDK_TOUCH_END, GDK_TOUCH_CANCEL].contains(type),
            // Ignore all touches but the first.
            gdk_touch_event_get_emulating_pointer(event) != 0
        else { return }
        switch type {
        case GDK_TOUCH_BEGIN: start = position(of: event)
        case GDK_TOUCH_UPDATE:
            if let start, let y = position(of: event) { onMove?(start, y) }
        default: start = nil
        }
    }

    /// Returns the position in pixels from the widget's top.
    private func position(of event: OpaquePointer) -> Double? {
        guard let widget = gtk_event_controller_get_widget(touches.cast()), let native = gtk_widget_get_native(widget),
            let bounds = Widget(borrowing: widget).bounds(in: Widget(borrowing: UnsafeMutableRawPointer(native)))
        else { return nil }
        var (x, y, left, top) = (0.0, 0.0, 0.0, 0.0)
        guard gdk_event_get_position(event, &x, &y) != 0 else { return nil }
        gtk_native_get_surface_transform(native, &left, &top)
        return y - top - bounds.y
    }
}
