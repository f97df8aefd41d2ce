public import CGtk

/// The phase of an event's propagation in which a controller handles it.
public enum PropagationPhase: Sendable {
    case none, capture, bubble, target

    var gtk: GtkPropagationPhase {
        switch self {
        case .none: GTK_PHASE_NONE
        case .capture: GTK_PHASE_CAPTURE
        case .bubble: GTK_PHASE_BUBBLE
        case .target: GTK_PHASE_TARGET
        }
    }
}

/// The modifier keys and pointer buttons that are down.
public struct Modifiers: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let shift = Modifiers(rawValue: UInt32(GDK_SHIFT_MASK.rawValue))
    public static let control = Modifiers(rawValue: UInt32(GDK_CONTROL_MASK.rawValue))
    public static let alt = Modifiers(rawValue: UInt32(GDK_ALT_MASK.rawValue))
    public static let `super` = Modifiers(rawValue: UInt32(GDK_SUPER_MASK.rawValue))
    public static let buttons = Modifiers(
        rawValue: UInt32(GDK_BUTTON1_MASK.rawValue | GDK_BUTTON2_MASK.rawValue | GDK_BUTTON3_MASK.rawValue))
}

/// Handles one kind of input for the widget it is added to, which owns it.
///
/// A handler must not capture its controller: the event that it receives provides it.
open class EventController: Object {
    public final var phase: PropagationPhase {
        get {
            switch gtk_event_controller_get_propagation_phase(cast()) {
            case GTK_PHASE_CAPTURE: .capture
            case GTK_PHASE_BUBBLE: .bubble
            case GTK_PHASE_TARGET: .target
            default: .none
            }
        }
        set { gtk_event_controller_set_propagation_phase(cast(), newValue.gtk) }
    }

    /// The widget that the controller is added to.
    public final var widget: Widget? { Widget(of: gtk_event_controller_get_widget(cast())) }

    /// The modifiers of the event that is being handled.
    public final var modifiers: Modifiers {
        Modifiers(rawValue: UInt32(gtk_event_controller_get_current_event_state(cast()).rawValue))
    }

    /// The time of the event that is being handled, in milliseconds.
    public final var eventTime: UInt32 { gtk_event_controller_get_current_event_time(cast()) }

    /// Whether the event that is being handled comes from a touchscreen; pens and touchpads emit pointer events.
    /// Checks the event instead of the device: X11 touchscreens share the pointer device of the mouse.
    public final var isTouch: Bool {
        gtk_event_controller_get_current_event(cast()).map { InputEvent.isTouch(gdk_event_get_event_type($0)) } ?? false
    }
}

/// The argument of a controller's handler; valid only while the handler runs.
public protocol ControllerEvent {
    associatedtype Controller: EventController
    var controller: Controller { get }
}

extension ControllerEvent {
    public var modifiers: Modifiers { controller.modifiers }
    /// In milliseconds.
    public var time: UInt32 { controller.eventTime }
    public var isTouch: Bool { controller.isTouch }
}

extension ControllerEvent where Controller: Gesture {
    /// Claims the gesture's event sequence: other gestures that recognize it are canceled.
    public func claim() { controller.claim() }
}

extension SignalArguments {
    /// The controller that emitted the signal.
    func controller<T: EventController>(_ type: T.Type = T.self) -> T {
        guard let emitter else { fatalError("a signal without its controller") }
        return T(borrowing: emitter)
    }
}

/// Reports when the focus enters and leaves a widget.
public final class FocusController: EventController {
    public convenience init() { self.init(owning: UnsafeMutableRawPointer(gtk_event_controller_focus_new())) }

    /// Called when the focus enters the widget or a descendant.
    public func onEnter(_ handler: @escaping @MainActor () -> Void) { connect("enter") { _ in handler() } }
    public func onLeave(_ handler: @escaping @MainActor () -> Void) { connect("leave") { _ in handler() } }
}

/// Key presses and releases.
public final class KeyController: EventController {
    public convenience init(_ phase: PropagationPhase = .bubble) {
        self.init(owning: UnsafeMutableRawPointer(gtk_event_controller_key_new()))
        self.phase = phase
    }

    /// - Parameter handler: Returns whether it handled the key; otherwise the event propagates further.
    @discardableResult
    public func onPress(_ handler: @escaping @MainActor (KeyPress) -> Bool) -> SignalConnection {
        intercept("key-pressed") { handler(KeyPress($0)) }
    }

    public func onRelease(_ handler: @escaping @MainActor (KeyPress) -> Void) {
        connect("key-released") { handler(KeyPress($0)) }
    }
}

/// A key that goes down or up.
public struct KeyPress: ControllerEvent {
    public let controller: KeyController
    /// The symbol, as in `GDK_KEY_Return`. With Control, Alt or Super under a layout of another script, it is the Latin
    /// letter that the key has in another layout of the user's, if any: shortcuts go by those.
    public let keyval: UInt32
    /// The number of the key, whatever its symbol.
    public let keycode: UInt32
    /// The modifiers that are held down.
    public let modifiers: Modifiers

    init(_ arguments: SignalArguments) {
        let controller: KeyController = arguments.controller()
        let keycode = arguments.uint(1)
        self.controller = controller
        self.keycode = keycode
        modifiers = Modifiers(rawValue: arguments.flags(2))
        keyval = Self.shortcutSymbol(arguments.uint(0), modifiers, in: { controller.symbols(ofKey: keycode) })
    }

    /// The symbol by which shortcuts know a key.
    ///
    /// - Parameters:
    ///   - keyval: The symbol in the current layout.
    ///   - layouts: Returns the key's symbols without modifiers in all layouts.
    static func shortcutSymbol(_ keyval: UInt32, _ modifiers: Modifiers, in layouts: () -> [UInt32]) -> UInt32 {
        guard !modifiers.isDisjoint(with: [.control, .alt, .super]), KeyValue.isOfAnotherScript(keyval),
            let letter = layouts().first(where: { KeyValue.isASCIILetter($0) })
        else { return keyval }
        return modifiers.contains(.shift) ? KeyValue.uppercase(letter) : letter
    }

    /// ``keyval``, typed like the `GDK_KEY_…` constants.
    public var key: Int32 { Int32(bitPattern: keyval) }

    /// Has `widget` handle the key as if it had the focus.
    /// - Returns: Whether it did.
    @discardableResult
    public func forward(to widget: some WidgetProtocol) -> Bool { controller.forward(to: widget) }
}

extension KeyController {
    /// Has `widget` handle the current key as if it had the focus.
    /// - Returns: Whether it did.
    @discardableResult
    public func forward(to widget: some WidgetProtocol) -> Bool { shim_forward_key(pointer, widget.gtk) != 0 }

    /// Returns a key's symbols without modifiers, one for each of the keyboard's layouts.
    fileprivate func symbols(ofKey keycode: UInt32) -> [UInt32] {
        guard let widget, let display = gtk_widget_get_display(widget.cast()) else { return [] }
        var (keys, keyvals): (UnsafeMutablePointer<GdkKeymapKey>?, UnsafeMutablePointer<guint>?) = (nil, nil)
        var count: gint = 0
        guard gdk_display_map_keycode(display, keycode, &keys, &keyvals, &count) != 0 else { return [] }
        defer {
            g_free(keys)
            g_free(keyvals)
        }
        guard let entries = keys, let symbols = keyvals else { return [] }
        return (0..<Int(count)).filter { entries[$0].level == 0 }.map { symbols[$0] }
    }
}

/// The pointer's movement over a widget.
public final class MotionController: EventController {
    public convenience init() { self.init(owning: UnsafeMutableRawPointer(gtk_event_controller_motion_new())) }

    public func onEnter(_ handler: @escaping @MainActor (PointerEvent<MotionController>) -> Void) {
        connect("enter") { handler(PointerEvent($0)) }
    }
    public func onMove(_ handler: @escaping @MainActor (PointerEvent<MotionController>) -> Void) {
        connect("motion") { handler(PointerEvent($0)) }
    }
    public func onLeave(_ handler: @escaping @MainActor () -> Void) { connect("leave") { _ in handler() } }
}

/// A point in the widget's coordinates, or a distance in pixels.
public struct PointerEvent<Controller: EventController>: ControllerEvent {
    public let controller: Controller
    public let x: Double
    public let y: Double

    init(_ arguments: SignalArguments, first: Int = 0) {
        controller = arguments.controller()
        x = arguments.double(first)
        y = arguments.double(first + 1)
    }
}

/// The axes along which a scroll controller takes events.
public enum ScrollAxes: Sendable {
    case vertical, horizontal, both

    var gtk: GtkEventControllerScrollFlags {
        switch self {
        case .vertical: GTK_EVENT_CONTROLLER_SCROLL_VERTICAL
        case .horizontal: GTK_EVENT_CONTROLLER_SCROLL_HORIZONTAL
        case .both: GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES
        }
    }
}

/// Wheels and two-finger scrolling.
public final class ScrollController: EventController {
    public convenience init(_ axes: ScrollAxes) {
        self.init(owning: UnsafeMutableRawPointer(gtk_event_controller_scroll_new(axes.gtk)))
    }

    /// - Parameter handler: Receives the distance; returns whether it handled the event.
    public func onScroll(_ handler: @escaping @MainActor (PointerEvent<ScrollController>) -> Bool) {
        intercept("scroll") { handler(PointerEvent($0)) }
    }
    /// Called when the fingers lift from a touchpad.
    public func onScrollEnd(_ handler: @escaping @MainActor () -> Void) { connect("scroll-end") { _ in handler() } }
}

/// Every event that reaches a widget, as a raw GdkEvent.
public final class LegacyController: EventController {
    public convenience init(_ phase: PropagationPhase = .bubble) {
        self.init(owning: UnsafeMutableRawPointer(gtk_event_controller_legacy_new()))
        self.phase = phase
    }

    /// - Parameter handler: Returns whether to stop the event's propagation.
    public func onEvent(_ handler: @escaping @MainActor (InputEvent) -> Bool) {
        intercept("event") { arguments in
            arguments.pointer(0).map { handler(InputEvent(pointer: OpaquePointer($0))) } ?? false
        }
    }
}

/// A GdkEvent; valid only during the handler that receives it.
public struct InputEvent {
    let pointer: OpaquePointer

    public var type: GdkEventType { gdk_event_get_event_type(pointer) }
    public var modifiers: Modifiers { Modifiers(rawValue: UInt32(gdk_event_get_modifier_state(pointer).rawValue)) }
    /// Whether it belongs to the first finger on a touchscreen.
    public var isFirstTouch: Bool { isTouch && gdk_touch_event_get_emulating_pointer(pointer) != 0 }
    public var isTouch: Bool { Self.isTouch(type) }

    /// Returns whether the type is a touchscreen event; pens and touchpads emit pointer events.
    public static func isTouch(_ type: GdkEventType) -> Bool {
        [GDK_TOUCH_BEGIN, GDK_TOUCH_UPDATE, GDK_TOUCH_END, GDK_TOUCH_CANCEL].contains(type)
    }

    /// Returns the position in the widget's coordinates, or `nil` for events without one.
    public func position(in widget: some WidgetProtocol) -> (x: Double, y: Double)? {
        guard let native = gtk_widget_get_native(widget.gtk) else { return nil }
        var (x, y, left, top, ownX, ownY) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        guard gdk_event_get_position(pointer, &x, &y) != 0 else { return nil }
        gtk_native_get_surface_transform(native, &left, &top)
        guard shim_translate(UnsafeMutableRawPointer(native), widget.gtk, x - left, y - top, &ownX, &ownY) != 0 else {
            return nil
        }
        return (ownX, ownY)
    }
}

/// The symbols of keys, as in `GDK_KEY_Return`.
public nonisolated enum KeyValue {
    /// The character that a key types, or `nil` if it types none.
    public static func character(_ keyval: UInt32) -> Unicode.Scalar? {
        let character = gdk_keyval_to_unicode(keyval)
        return character == 0 ? nil : Unicode.Scalar(character)
    }

    /// Whether the symbol belongs to a script other than Latin. Digits, punctuation and keys like Return do not.
    static func isOfAnotherScript(_ keyval: UInt32) -> Bool {
        guard let character = character(keyval) else { return false }
        // The Latin letters end with the phonetic ones; those with two marks, as in Vietnamese, are elsewhere.
        if character.value < 0x2B0 || (0x1E00...0x1EFF).contains(character.value) { return false }
        return switch character.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .enclosingMark:
            true
        default: false
        }
    }

    static func isASCIILetter(_ keyval: UInt32) -> Bool {
        character(keyval).map { $0.isASCII && $0.properties.isAlphabetic } ?? false
    }

    public static func uppercase(_ keyval: UInt32) -> UInt32 { gdk_keyval_to_upper(keyval) }
    public static func name(_ keyval: UInt32) -> String? { gdk_keyval_name(keyval).map { String(cString: $0) } }
}
