public import CGtk

// Thin wrappers: an initializer where code creates the widget, and the properties that code sets. Add as needed.

open class Button: Widget {
    public convenience init() { self.init(sinking: gtk_button_new()) }
    public convenience init(icon: String) { self.init(sinking: gtk_button_new_from_icon_name(icon)) }
    public convenience init(label: String) { self.init(sinking: gtk_button_new_with_label(label)) }
    /// - Parameter mnemonic: The label, with an underscore before the key that activates the button with Alt.
    public convenience init(mnemonic: String) { self.init(sinking: gtk_button_new_with_mnemonic(mnemonic)) }

    public final func setChild(_ child: Widget?) { gtk_button_set_child(cast(), child?.cast()) }

    /// Whether an underscore in the label marks the key that activates the button with Alt.
    public final var usesUnderline: Bool {
        get { gtk_button_get_use_underline(cast()) != 0 }
        set { gtk_button_set_use_underline(cast(), newValue ? 1 : 0) }
    }

    public final var iconName: String? {
        get { gtk_button_get_icon_name(cast()).map { String(cString: $0) } }
        set { gtk_button_set_icon_name(cast(), newValue ?? "") }
    }

    public final var label: String? {
        get { gtk_button_get_label(cast()).map { String(cString: $0) } }
        set { gtk_button_set_label(cast(), newValue ?? "") }
    }

    @discardableResult
    public final func onClick(_ handler: @escaping @MainActor () -> Void) -> SignalConnection {
        connect("clicked") { _ in handler() }
    }
}

public final class Box: Widget {
    public convenience init(_ orientation: Orientation, spacing: Int = 0) {
        self.init(sinking: gtk_box_new(orientation.gtk, Int32(spacing)))
    }

    /// Creates a box that assistive technology presents as something other than a group.
    public convenience init(_ orientation: Orientation, spacing: Int = 0, role: GtkAccessibleRole) {
        self.init(sinking: shim_object_new_with_role(gtk_box_get_type(), role))
        self.orientation = orientation
        self.spacing = spacing
    }

    public var orientation: Orientation {
        get { gtk_orientable_get_orientation(cast()) == GTK_ORIENTATION_VERTICAL ? .vertical : .horizontal }
        set { gtk_orientable_set_orientation(cast(), newValue.gtk) }
    }

    /// The spacing between the children.
    public var spacing: Int {
        get { Int(gtk_box_get_spacing(cast())) }
        set { gtk_box_set_spacing(cast(), gint(clamping: newValue)) }
    }

    /// Whether all children have the same size.
    public var isHomogeneous: Bool {
        get { gtk_box_get_homogeneous(cast()) != 0 }
        set { gtk_box_set_homogeneous(cast(), newValue ? 1 : 0) }
    }

    public func append(_ child: Widget) { gtk_box_append(cast(), child.cast()) }
    public func prepend(_ child: Widget) { gtk_box_prepend(cast(), child.cast()) }
    public func insert(_ child: Widget, after sibling: Widget) {
        gtk_box_insert_child_after(cast(), child.cast(), sibling.cast())
    }
    /// Moves a child after another one; `nil` makes it the first.
    public func move(_ child: Widget, after sibling: Widget?) {
        gtk_box_reorder_child_after(cast(), child.cast(), sibling?.cast())
    }
    public func remove(_ child: Widget) { gtk_box_remove(cast(), child.cast()) }
}

/// How a ``Revealer`` shows its child.
public enum RevealerTransition: Sendable {
    case crossfade, slideUp, slideDown

    var gtk: GtkRevealerTransitionType {
        switch self {
        case .crossfade: GTK_REVEALER_TRANSITION_TYPE_CROSSFADE
        case .slideUp: GTK_REVEALER_TRANSITION_TYPE_SLIDE_UP
        case .slideDown: GTK_REVEALER_TRANSITION_TYPE_SLIDE_DOWN
        }
    }
}

public final class Revealer: Widget {
    public convenience init(_ transition: RevealerTransition = .slideDown) {
        self.init(sinking: gtk_revealer_new())
        gtk_revealer_set_transition_type(cast(), transition.gtk)
    }

    public func setChild(_ child: Widget?) { gtk_revealer_set_child(cast(), child?.cast()) }

    public var isRevealed: Bool {
        get { gtk_revealer_get_reveal_child(cast()) != 0 }
        set { gtk_revealer_set_reveal_child(cast(), newValue ? 1 : 0) }
    }
}

public final class Stack: Widget {
    public convenience init() { self.init(sinking: gtk_stack_new()) }

    public func add(_ child: Widget, name: String) { gtk_stack_add_named(cast(), child.cast(), name) }
    public func add(_ child: Widget) { gtk_stack_add_child(cast(), child.cast()) }
    public func remove(_ child: Widget) { gtk_stack_remove(cast(), child.cast()) }
    public func child(named name: String) -> Widget? { Widget(of: gtk_stack_get_child_by_name(cast(), name)) }
    public func show(_ child: Widget) { gtk_stack_set_visible_child(cast(), child.cast()) }

    public var visibleChild: String {
        get { gtk_stack_get_visible_child_name(cast()).map { String(cString: $0) } ?? "" }
        set { gtk_stack_set_visible_child_name(cast(), newValue) }
    }
}

/// Whether a ``ScrolledWindow`` scrolls along an axis, and shows a scrollbar.
public enum ScrollPolicy: Sendable {
    case always, automatic, never, external

    var gtk: GtkPolicyType {
        switch self {
        case .always: GTK_POLICY_ALWAYS
        case .automatic: GTK_POLICY_AUTOMATIC
        case .never: GTK_POLICY_NEVER
        case .external: GTK_POLICY_EXTERNAL
        }
    }
}

public final class ScrolledWindow: Widget {
    /// Creates a window without a child.
    public convenience init(horizontal: ScrollPolicy, vertical: ScrollPolicy) {
        self.init(sinking: gtk_scrolled_window_new())
        gtk_scrolled_window_set_policy(cast(), horizontal.gtk, vertical.gtk)
    }

    /// Creates a window that scrolls vertically and expands to the available height.
    public convenience init(_ child: Widget) {
        self.init(sinking: gtk_scrolled_window_new())
        gtk_scrolled_window_set_policy(cast(), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        gtk_widget_set_vexpand(cast(), 1)
        setChild(child)
    }

    /// The greatest natural width that the content can give the window; -1 for none.
    public var maxContentWidth: Int {
        get { Int(gtk_scrolled_window_get_max_content_width(cast())) }
        set { gtk_scrolled_window_set_max_content_width(cast(), gint(clamping: newValue)) }
    }

    /// Creates a window that scrolls a wide child horizontally and takes its natural height; vertical scrolling is left
    /// to the ancestors.
    public convenience init(sideways child: Widget) {
        self.init(sinking: gtk_scrolled_window_new())
        gtk_scrolled_window_set_policy(cast(), GTK_POLICY_AUTOMATIC, GTK_POLICY_NEVER)
        gtk_scrolled_window_set_propagate_natural_width(cast(), 1)
        gtk_scrolled_window_set_propagate_natural_height(cast(), 1)
        handleScrolling(only: .sideways)
        setChild(child)
    }

    public func setChild(_ child: Widget) { gtk_scrolled_window_set_child(cast(), child.cast()) }

    /// Whether the window requests the natural height of its child.
    public var propagatesNaturalHeight: Bool {
        get { gtk_scrolled_window_get_propagate_natural_height(cast()) != 0 }
        set { gtk_scrolled_window_set_propagate_natural_height(cast(), newValue ? 1 : 0) }
    }

    public var isKineticScrolling: Bool {
        get { gtk_scrolled_window_get_kinetic_scrolling(cast()) != 0 }
        set { gtk_scrolled_window_set_kinetic_scrolling(cast(), newValue ? 1 : 0) }
    }

    public var verticalScrollbar: Widget? { Widget(of: gtk_scrolled_window_get_vscrollbar(cast())) }

    public var verticalAdjustment: Adjustment {
        Adjustment(borrowing: UnsafeMutableRawPointer(gtk_scrolled_window_get_vadjustment(cast())))
    }
    /// Whether the vertical scrollbar is hidden, whatever the content height.
    public var hidesScrollbar: Bool {
        get {
            var policy = GTK_POLICY_AUTOMATIC
            gtk_scrolled_window_get_policy(cast(), nil, &policy)
            return policy == GTK_POLICY_EXTERNAL
        }
        set {
            guard newValue != hidesScrollbar else { return }
            var sideways = GTK_POLICY_NEVER
            gtk_scrolled_window_get_policy(cast(), &sideways, nil)
            gtk_scrolled_window_set_policy(cast(), sideways, newValue ? GTK_POLICY_EXTERNAL : GTK_POLICY_AUTOMATIC)
            // GTK 4.8 paints the scrollbar once more at its old position if only the policy changes.
            gtk_widget_set_visible(gtk_scrolled_window_get_vscrollbar(cast()), newValue ? 0 : 1)
        }
    }
    /// Whether the window can be narrower than its content, which then scrolls only programmatically.
    public var scrollsSideways: Bool {
        get {
            var policy = GTK_POLICY_NEVER
            gtk_scrolled_window_get_policy(cast(), &policy, nil)
            return policy != GTK_POLICY_NEVER
        }
        set {
            var upright = GTK_POLICY_AUTOMATIC
            gtk_scrolled_window_get_policy(cast(), nil, &upright)
            gtk_scrolled_window_set_policy(cast(), newValue ? GTK_POLICY_EXTERNAL : GTK_POLICY_NEVER, upright)
        }
    }
    public var horizontalAdjustment: Adjustment {
        Adjustment(borrowing: UnsafeMutableRawPointer(gtk_scrolled_window_get_hadjustment(cast())))
    }
    /// Sets the bounds of the content height in pixels; -1 removes a limit.
    public func setContentHeight(minimum: Int, maximum: Int) {
        // GTK rejects a minimum above the current maximum: lift the maximum first.
        gtk_scrolled_window_set_max_content_height(cast(), -1)
        gtk_scrolled_window_set_min_content_height(cast(), Int32(minimum))
        gtk_scrolled_window_set_max_content_height(cast(), Int32(maximum))
    }
}

public final class Entry: Widget, Editable {
    public convenience init() { self.init(sinking: gtk_entry_new()) }

    public func setPlaceholder(_ text: String) { gtk_entry_set_placeholder_text(cast(), text) }

    /// The natural width in characters.
    public var widthChars: Int {
        get { Int(gtk_editable_get_width_chars(cast())) }
        set { gtk_editable_set_width_chars(cast(), gint(clamping: newValue)) }
    }

    /// Calls `handler` on Return.
    public func onActivate(_ handler: @escaping @MainActor () -> Void) { connect("activate") { _ in handler() } }
}

/// A child with others over it.
public final class Overlay: Widget {
    public convenience init() { self.init(sinking: gtk_overlay_new()) }

    public func setChild(_ child: Widget?) { gtk_overlay_set_child(cast(), child?.cast()) }
    public func addOverlay(_ widget: Widget) { gtk_overlay_add_overlay(cast(), widget.cast()) }
    public func removeOverlay(_ widget: Widget) { gtk_overlay_remove_overlay(cast(), widget.cast()) }
}

/// Limits the width of its child.
public final class Clamp: Widget {
    public convenience init() { self.init(sinking: adw_clamp_new()) }

    /// - Parameters:
    ///   - maximum: The maximum width.
    ///   - tighteningThreshold: The width from which on the child grows more slowly.
    public func setSize(maximum: Int, tighteningThreshold: Int) {
        adw_clamp_set_maximum_size(cast(), gint(clamping: maximum))
        adw_clamp_set_tightening_threshold(cast(), gint(clamping: tighteningThreshold))
    }

    public func setChild(_ child: Widget?) { adw_clamp_set_child(cast(), child?.cast()) }
}

/// A scrollbar that is separate from the content it scrolls.
public final class Scrollbar: Widget {
    public convenience init(_ orientation: Orientation, of adjustment: Adjustment) {
        self.init(sinking: gtk_scrollbar_new(orientation.gtk, adjustment.cast()))
    }
}
