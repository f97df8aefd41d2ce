public import CGtk

/// A direction in which the focus moves.
public enum FocusDirection: Sendable {
    case forward, backward, up, down, left, right

    var gtk: GtkDirectionType {
        switch self {
        case .forward: GTK_DIR_TAB_FORWARD
        case .backward: GTK_DIR_TAB_BACKWARD
        case .up: GTK_DIR_UP
        case .down: GTK_DIR_DOWN
        case .left: GTK_DIR_LEFT
        case .right: GTK_DIR_RIGHT
        }
    }
}

/// A widget's state as set by the pointer, the keyboard and selection.
public struct StateFlags: OptionSet, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let active = StateFlags(rawValue: UInt32(GTK_STATE_FLAG_ACTIVE.rawValue))
    public static let prelight = StateFlags(rawValue: UInt32(GTK_STATE_FLAG_PRELIGHT.rawValue))
    public static let focused = StateFlags(rawValue: UInt32(GTK_STATE_FLAG_FOCUSED.rawValue))
    public static let focusVisible = StateFlags(rawValue: UInt32(GTK_STATE_FLAG_FOCUS_VISIBLE.rawValue))
    public static let focusWithin = StateFlags(rawValue: UInt32(GTK_STATE_FLAG_FOCUS_WITHIN.rawValue))
    public static let selected = StateFlags(rawValue: UInt32(GTK_STATE_FLAG_SELECTED.rawValue))
}

// MARK: Tree

extension WidgetProtocol {
    public var parent: Widget? { Widget(of: gtk_widget_get_parent(gtk)) }
    public var firstChild: Widget? { Widget(of: gtk_widget_get_first_child(gtk)) }
    public var previousSibling: Widget? { Widget(of: gtk_widget_get_prev_sibling(gtk)) }
    public var nextSibling: Widget? { Widget(of: gtk_widget_get_next_sibling(gtk)) }

    /// The window, or `nil` outside of one.
    public var root: Root? { gtk_widget_get_root(gtk).map { Root(borrowing: UnsafeMutableRawPointer($0)) } }

    /// The child widgets in order.
    public var children: [Widget] {
        var result: [Widget] = []
        var next = gtk_widget_get_first_child(gtk)
        while let child = next {
            result.append(Widget(borrowing: child))
            next = gtk_widget_get_next_sibling(child)
        }
        return result
    }

    /// Returns the nearest ancestor, or the widget itself, that is an instance of `type`.
    public func ancestor<T: Widget>(_ type: GType, as wrapper: T.Type = Widget.self) -> T? {
        gtk_widget_get_ancestor(gtk, type).map { T(borrowing: $0) }
    }

    public func isAncestor(of other: some WidgetProtocol) -> Bool { gtk_widget_is_ancestor(other.gtk, gtk) != 0 }

    /// Makes the widget a child of a custom widget.
    public func setParent(_ parent: some WidgetProtocol) { gtk_widget_set_parent(gtk, parent.gtk) }

    /// Makes the widget a child of a custom widget, after `sibling`; `nil` makes it the first.
    public func insert(into parent: some WidgetProtocol, after sibling: Widget?) {
        gtk_widget_insert_after(gtk, parent.gtk, sibling?.gtk)
    }

    /// Removes the widget from its parent, if it has one.
    public func unparent() {
        if gtk_widget_get_parent(gtk) != nil { gtk_widget_unparent(gtk) }
    }

    public var isMapped: Bool { gtk_widget_get_mapped(gtk) != 0 }
    public var isRealized: Bool { gtk_widget_get_realized(gtk) != 0 }

    /// Whether the widget is mapped along with its parent.
    public var isChildVisible: Bool {
        get { gtk_widget_get_child_visible(gtk) != 0 }
        nonmutating set { gtk_widget_set_child_visible(gtk, newValue ? 1 : 0) }
    }
}

// MARK: Input

extension WidgetProtocol {
    public var isSensitive: Bool {
        get { gtk_widget_get_sensitive(gtk) != 0 }
        nonmutating set { gtk_widget_set_sensitive(gtk, newValue ? 1 : 0) }
    }

    /// Whether the widget itself can take the focus.
    public var isFocusable: Bool {
        get { gtk_widget_get_focusable(gtk) != 0 }
        nonmutating set { gtk_widget_set_focusable(gtk, newValue ? 1 : 0) }
    }

    /// Whether the widget or a descendant can take the focus.
    public var canFocus: Bool {
        get { gtk_widget_get_can_focus(gtk) != 0 }
        nonmutating set { gtk_widget_set_can_focus(gtk, newValue ? 1 : 0) }
    }

    /// Whether pointer events can reach the widget.
    public var canTarget: Bool {
        get { gtk_widget_get_can_target(gtk) != 0 }
        nonmutating set { gtk_widget_set_can_target(gtk, newValue ? 1 : 0) }
    }

    public var focusOnClick: Bool {
        get { gtk_widget_get_focus_on_click(gtk) != 0 }
        nonmutating set { gtk_widget_set_focus_on_click(gtk, newValue ? 1 : 0) }
    }

    /// Whether the widget has the focus of an active window.
    public var hasFocus: Bool { gtk_widget_has_focus(gtk) != 0 }
    /// Whether the widget has the focus of its window.
    public var isFocus: Bool { gtk_widget_is_focus(gtk) != 0 }
    public var hasVisibleFocus: Bool { gtk_widget_has_visible_focus(gtk) != 0 }
    /// The child that has the focus or last had it.
    public var focusChild: Widget? { Widget(of: gtk_widget_get_focus_child(gtk)) }

    @discardableResult
    public func grabFocus() -> Bool { gtk_widget_grab_focus(gtk) != 0 }

    /// Moves the focus within the widget.
    /// - Returns: Whether it is still in the widget.
    @discardableResult
    public func moveFocus(_ direction: FocusDirection) -> Bool { gtk_widget_child_focus(gtk, direction.gtk) != 0 }

    public var stateFlags: StateFlags { StateFlags(rawValue: UInt32(gtk_widget_get_state_flags(gtk).rawValue)) }

    /// Activates the named action, looked up from this widget upward.
    @discardableResult
    public func activateAction(_ name: String, _ parameter: String? = nil) -> Bool {
        gtk_widget_activate_action_variant(gtk, name, parameter.map { g_variant_new_string($0) }) != 0
    }

    @discardableResult
    public func activateAction(_ name: String, index: Int) -> Bool {
        gtk_widget_activate_action_variant(gtk, name, g_variant_new_uint32(guint32(index))) != 0
    }

    public func insertActions(_ group: ActionGroup, prefix: String) {
        gtk_widget_insert_action_group(gtk, prefix, group.cast())
    }

    /// Adds the event controller; the widget owns it.
    public func addController(_ controller: EventController) { gtk_widget_add_controller(gtk, controller.retained()) }
    public func removeController(_ controller: EventController) {
        gtk_widget_remove_controller(gtk, controller.cast())
    }

    /// The pointer's position in the widget's coordinates, or `nil` outside of a window and without a pointer.
    public var pointerPosition: (x: Double, y: Double)? {
        guard let native = gtk_widget_get_native(gtk), let surface = gtk_native_get_surface(native),
            let seat = gdk_display_get_default_seat(gtk_widget_get_display(gtk)),
            let device = gdk_seat_get_pointer(seat)
        else { return nil }
        var (x, y, left, top, ownX, ownY) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        _ = gdk_surface_get_device_position(surface, device, &x, &y, nil)
        gtk_native_get_surface_transform(native, &left, &top)
        shim_translate(UnsafeMutableRawPointer(native), gtk, x - left, y - top, &ownX, &ownY)
        return (ownX, ownY)
    }

    /// The GdkSurface of the widget's window or popover, or `nil` while it has none.
    public var surface: Object? {
        gtk_widget_get_native(gtk).flatMap { gtk_native_get_surface($0) }.map {
            Object(borrowing: UnsafeMutableRawPointer($0))
        }
    }
}
