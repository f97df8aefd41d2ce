import CGtk

// Thin wrappers: a constructor where code makes the widget, and the properties that code sets. Add as needed.

public final class Label: Widget {
    public convenience init(_ text: String = "") {
        self.init(sinking: gtk_label_new(text))
    }

    public var text: String {
        get { String(cString: gtk_label_get_text(cast())) }
        set { gtk_label_set_text(cast(), newValue) }
    }
}

public final class Button: Widget {
    public var iconName: String? {
        get { gtk_button_get_icon_name(cast()).map { String(cString: $0) } }
        set { gtk_button_set_icon_name(cast(), newValue ?? "") }
    }

    public var label: String? {
        get { gtk_button_get_label(cast()).map { String(cString: $0) } }
        set { gtk_button_set_label(cast(), newValue ?? "") }
    }

    public func onClick(_ handler: @escaping @MainActor () -> Void) { connect("clicked") { _ in handler() } }
}

public final class Box: Widget {
    public convenience init(_ orientation: Orientation, spacing: Int = 0) {
        self.init(sinking: gtk_box_new(orientation.gtk, Int32(spacing)))
    }

    public func append(_ child: Widget) { gtk_box_append(cast(), child.cast()) }
    public func insert(_ child: Widget, after sibling: Widget) {
        gtk_box_insert_child_after(cast(), child.cast(), sibling.cast())
    }
    public func remove(_ child: Widget) { gtk_box_remove(cast(), child.cast()) }
}

public final class Revealer: Widget {
    public var isRevealed: Bool {
        get { gtk_revealer_get_reveal_child(cast()) != 0 }
        set { gtk_revealer_set_reveal_child(cast(), newValue ? 1 : 0) }
    }
}

public final class Stack: Widget {
    public var visibleChild: String {
        get { gtk_stack_get_visible_child_name(cast()).map { String(cString: $0) } ?? "" }
        set { gtk_stack_set_visible_child_name(cast(), newValue) }
    }
}

public final class ScrolledWindow: Widget {
    /// Creates a window that scrolls vertically and expands to the available height.
    public convenience init(_ child: Widget) {
        self.init(sinking: gtk_scrolled_window_new())
        gtk_scrolled_window_set_policy(cast(), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        gtk_widget_set_vexpand(cast(), 1)
        setChild(child)
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

public final class Entry: Widget {
    public var text: String {
        get { String(cString: gtk_editable_get_text(cast())) }
        set { if text != newValue { gtk_editable_set_text(cast(), newValue) } }
    }

    public func onChange(_ handler: @escaping @MainActor () -> Void) { connect("changed") { _ in handler() } }
}

/// A popover menu attached to a widget, from a menu model in a `.ui` file.
public final class PopoverMenu: Widget {
    public convenience init(model: Object, parent: Widget) {
        self.init(sinking: gtk_popover_menu_new_from_model(model.cast()))
        attachPopover(to: parent)
        gtk_popover_set_has_arrow(cast(), 0)
        gtk_widget_set_halign(cast(), GTK_ALIGN_START)
    }

    /// Opens at a point in the parent's coordinates.
    public func popUp(x: Double, y: Double) {
        var rectangle = GdkRectangle(x: Int32(x), y: Int32(y), width: 1, height: 1)
        gtk_popover_set_pointing_to(cast(), &rectangle)
        gtk_popover_popup(cast())
    }
}

/// A button that opens a popover.
public final class MenuButton: Widget {
    public var iconName: String? {
        get { gtk_menu_button_get_icon_name(cast()).map { String(cString: $0) } }
        set { gtk_menu_button_set_icon_name(cast(), newValue ?? "") }
    }

    /// Sets a factory that creates the popover the first time the button opens it.
    public func setPopover(_ make: @escaping @MainActor () -> Widget) {
        let box = Unmanaged.passRetained(ClosureBox(make)).toOpaque()
        gtk_menu_button_set_create_popup_func(
            cast(),
            { button, data in
                nonisolated(unsafe) let (button, data) = (button, data)
                MainActor.assumeIsolated {
                    guard let button, let data, gtk_menu_button_get_popover(button) == nil else { return }
                    let make = Unmanaged<ClosureBox<@MainActor () -> Widget>>.fromOpaque(data).takeUnretainedValue()
                    // A temporary could be freed before the call.
                    let popover = make.closure()
                    gtk_menu_button_set_popover(button, popover.cast())
                }
            }, box,
            { data in
                if let data { Unmanaged<ClosureBox<@MainActor () -> Widget>>.fromOpaque(data).release() }
            })
    }
}
