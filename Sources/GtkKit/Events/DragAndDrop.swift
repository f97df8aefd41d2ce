import CGtk

/// The actions that a drop may perform on the content.
public struct DragActions: OptionSet, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let copy = DragActions(rawValue: UInt32(GDK_ACTION_COPY.rawValue))
    public static let move = DragActions(rawValue: UInt32(GDK_ACTION_MOVE.rawValue))

    var gdk: GdkDragAction { GdkDragAction(GdkDragAction.RawValue(rawValue)) }
}

/// Lets the user drag content out of a widget.
public final class DragSource: SingleGesture {
    public convenience init(_ actions: DragActions, phase: PropagationPhase = .bubble) {
        self.init(owning: UnsafeMutableRawPointer(gtk_drag_source_new()))
        gtk_drag_source_set_actions(cast(), actions.gdk)
        self.phase = phase
    }

    /// The content of every drag.
    public func setContent(_ content: ContentProvider) { gtk_drag_source_set_content(cast(), content.cast()) }

    /// Chooses the content of a drag from its starting point; `nil` starts none.
    public func onPrepare(_ handler: @escaping @MainActor (PointerEvent<DragSource>) -> ContentProvider?) {
        provide("prepare") { handler(PointerEvent($0)) }
    }

    public func onDragBegin(_ handler: @escaping @MainActor (Drag) -> Void) {
        connect("drag-begin") { arguments in
            if let drag = arguments.object(0) { handler(Drag(borrowing: drag)) }
        }
    }

    /// - Parameter handler: Receives whether the content moved, so that the source deletes it.
    public func onDragEnd(_ handler: @escaping @MainActor (_ deletes: Bool) -> Void) {
        connect("drag-end") { handler($0.bool(1)) }
    }
}

/// A drag in progress.
public final class Drag: Object {
    /// Shows a widget as the drag icon.
    public func setIcon(_ widget: Widget) {
        guard let icon = gtk_drag_icon_get_for_drag(cast()) else { return }
        gtk_drag_icon_set_child(OpaquePointer(icon), widget.cast())
    }
}

/// Accepts drops of an integer from the same program.
public final class DropTarget: EventController {
    public convenience init(numbersFor actions: DragActions) {
        self.init(owning: UnsafeMutableRawPointer(gtk_drop_target_new(shim_type_int(), actions.gdk)))
    }

    /// - Parameter handler: Receives the point; returns whether it accepts the drop.
    public func onDrop(_ handler: @escaping @MainActor (PointerEvent<DropTarget>) -> Bool) {
        intercept("drop") { handler(PointerEvent($0, first: 1)) }
    }
}

/// Accepts drops whose content is read after the drop.
public final class AsyncDropTarget: EventController {
    /// Accepts any content.
    public convenience init(_ actions: DragActions, phase: PropagationPhase = .bubble) {
        self.init(owning: UnsafeMutableRawPointer(gtk_drop_target_async_new(nil, actions.gdk)))
        self.phase = phase
    }

    /// Accepts text and a MIME type.
    public convenience init(textOr type: String, _ actions: DragActions, phase: PropagationPhase = .bubble) {
        let builder = gdk_content_formats_builder_new()
        gdk_content_formats_builder_add_mime_type(builder, type)
        gdk_content_formats_builder_add_gtype(builder, shim_type_string())
        // The target consumes the formats.
        let formats = gdk_content_formats_builder_free_to_formats(builder)
        self.init(owning: UnsafeMutableRawPointer(gtk_drop_target_async_new(formats, actions.gdk)))
        self.phase = phase
    }

    /// - Parameter handler: Returns whether the target accepts the content.
    public func onAccept(_ handler: @escaping @MainActor (ContentOffer) -> Bool) {
        intercept("accept") { arguments in arguments.object(0).map { handler(ContentOffer(borrowing: $0)) } ?? false }
    }

    /// - Parameter handler: Returns what a drop would do.
    public func onEnter(_ handler: @escaping @MainActor () -> DragActions) {
        connectReturningFlags("drag-enter") { _ in handler().rawValue }
    }

    public func onLeave(_ handler: @escaping @MainActor () -> Void) { connect("drag-leave") { _ in handler() } }

    /// - Parameter handler: Receives the content, on which it must call ``ContentOffer/finishDrop(isAccepted:)`` or
    ///   ``ContentOffer/finishDrop(_:)``, and the point.
    public func onDrop(_ handler: @escaping @MainActor (ContentOffer, PointerEvent<AsyncDropTarget>) -> Void) {
        intercept("drop") { arguments in
            guard let drop = arguments.object(0) else { return false }
            handler(ContentOffer(borrowing: drop), PointerEvent(arguments, first: 1))
            return true
        }
    }
}

/// A drag's movement over a widget, whether or not the widget accepts it.
public final class DropMotionController: EventController {
    public convenience init() { self.init(owning: UnsafeMutableRawPointer(gtk_drop_controller_motion_new())) }

    public func onMove(_ handler: @escaping @MainActor (PointerEvent<DropMotionController>) -> Void) {
        connect("motion") { handler(PointerEvent($0)) }
    }
    public func onLeave(_ handler: @escaping @MainActor () -> Void) { connect("leave") { _ in handler() } }
}
