import CGtk

/// A pointer's buttons.
public enum PointerButton: Sendable {
    case any, primary, middle, secondary

    var gdk: guint {
        switch self {
        case .any: 0
        case .primary: guint(GDK_BUTTON_PRIMARY)
        case .middle: guint(GDK_BUTTON_MIDDLE)
        case .secondary: guint(GDK_BUTTON_SECONDARY)
        }
    }
}

/// A controller that recognizes a sequence of events.
open class Gesture: EventController {
    /// Claims the event sequence: other gestures that recognize it are canceled.
    public final func claim() { gtk_gesture_set_state(cast(), GTK_EVENT_SEQUENCE_CLAIMED) }

    /// Called when the gesture is first recognized.
    public final func onBegin(_ handler: @escaping @MainActor () -> Void) { connect("begin") { _ in handler() } }
}

/// A gesture of one pointer button or finger.
open class SingleGesture: Gesture {
    public final var button: PointerButton {
        get {
            switch gtk_gesture_single_get_button(cast()) {
            case guint(GDK_BUTTON_PRIMARY): .primary
            case guint(GDK_BUTTON_MIDDLE): .middle
            case guint(GDK_BUTTON_SECONDARY): .secondary
            default: .any
            }
        }
        set { gtk_gesture_single_set_button(cast(), newValue.gdk) }
    }

    public final var isTouchOnly: Bool {
        get { gtk_gesture_single_get_touch_only(cast()) != 0 }
        set { gtk_gesture_single_set_touch_only(cast(), newValue ? 1 : 0) }
    }
}

/// Clicks and taps.
public final class ClickGesture: SingleGesture {
    public convenience init(_ button: PointerButton = .primary, phase: PropagationPhase = .bubble) {
        self.init(owning: UnsafeMutableRawPointer(gtk_gesture_click_new()))
        self.button = button
        self.phase = phase
    }

    public func onPress(_ handler: @escaping @MainActor (ClickEvent) -> Void) {
        connect("pressed") { handler(ClickEvent($0)) }
    }
    public func onRelease(_ handler: @escaping @MainActor (ClickEvent) -> Void) {
        connect("released") { handler(ClickEvent($0)) }
    }
}

/// A press or release in a series of clicks.
public struct ClickEvent: ControllerEvent {
    public let controller: ClickGesture
    /// 2 for a double click.
    public let count: Int
    public let x: Double
    public let y: Double

    init(_ arguments: SignalArguments) {
        controller = arguments.controller()
        count = arguments.int(0)
        x = arguments.double(1)
        y = arguments.double(2)
    }
}

/// Dragging with a button or finger down.
open class DragGesture: SingleGesture {
    public convenience init(_ button: PointerButton = .primary) {
        self.init(owning: UnsafeMutableRawPointer(gtk_gesture_drag_new()))
        self.button = button
    }

    /// - Parameter handler: Receives the starting point.
    public final func onDragBegin(_ handler: @escaping @MainActor (PointerEvent<DragGesture>) -> Void) {
        connect("drag-begin") { handler(PointerEvent($0)) }
    }
    /// - Parameter handler: Receives the distance from the starting point.
    public final func onDragUpdate(_ handler: @escaping @MainActor (PointerEvent<DragGesture>) -> Void) {
        connect("drag-update") { handler(PointerEvent($0)) }
    }
    /// - Parameter handler: Receives the distance from the starting point.
    public final func onDragEnd(_ handler: @escaping @MainActor (PointerEvent<DragGesture>) -> Void) {
        connect("drag-end") { handler(PointerEvent($0)) }
    }
}

/// Dragging along one axis.
public final class PanGesture: DragGesture {
    public convenience init(_ orientation: Orientation) {
        self.init(owning: UnsafeMutableRawPointer(gtk_gesture_pan_new(orientation.gtk)))
    }

    /// - Parameter handler: Receives the distance from the starting point, never negative.
    public func onPan(_ handler: @escaping @MainActor (Double) -> Void) { connect("pan") { handler($0.double(1)) } }
}

/// A press that is held down.
public final class LongPressGesture: SingleGesture {
    public convenience init() { self.init(owning: UnsafeMutableRawPointer(gtk_gesture_long_press_new())) }

    public func onPress(_ handler: @escaping @MainActor (PointerEvent<LongPressGesture>) -> Void) {
        connect("pressed") { handler(PointerEvent($0)) }
    }
}

/// A quick stroke.
public final class SwipeGesture: SingleGesture {
    public convenience init() { self.init(owning: UnsafeMutableRawPointer(gtk_gesture_swipe_new())) }

    /// - Parameter handler: Receives the velocity in pixels per second.
    public func onSwipe(_ handler: @escaping @MainActor (PointerEvent<SwipeGesture>) -> Void) {
        connect("swipe") { handler(PointerEvent($0)) }
    }
}

/// Two fingers that move apart or together.
public final class ZoomGesture: Gesture {
    public convenience init() { self.init(owning: UnsafeMutableRawPointer(gtk_gesture_zoom_new())) }

    /// - Parameter handler: Receives the scale since the gesture began.
    public func onScaleChange(_ handler: @escaping @MainActor (Double) -> Void) {
        connect("scale-changed") { handler($0.double(0)) }
    }
}
