import CGtk

/// A line between widgets.
public final class Separator: Widget {
    public convenience init(_ orientation: Orientation) {
        self.init(sinking: gtk_separator_new(orientation.gtk))
    }
}

/// A label that shows and hides the content below it.
public final class Expander: Widget {
    public convenience init(label: Widget, child: Widget) {
        self.init(sinking: gtk_expander_new(nil))
        gtk_expander_set_label_widget(cast(), label.cast())
        gtk_expander_set_child(cast(), child.cast())
    }

    public var isExpanded: Bool {
        get { gtk_expander_get_expanded(cast()) != 0 }
        set { gtk_expander_set_expanded(cast(), newValue ? 1 : 0) }
    }
}

/// An area that moves the window when it is dragged.
public final class WindowHandle: Widget {
    public convenience init(_ child: Widget) {
        self.init(sinking: gtk_window_handle_new())
        gtk_window_handle_set_child(cast(), child.cast())
    }
}

/// A page shown in place of missing content.
public final class StatusPage: Widget {
    public convenience init(title: String, iconName: String) {
        self.init(sinking: adw_status_page_new())
        self.title = title
        adw_status_page_set_icon_name(cast(), iconName)
    }

    public var iconName: String? { adw_status_page_get_icon_name(cast()).map { String(cString: $0) } }

    /// Sets the icon when the page is shown. Measuring the page, as a homogeneous stack does while it is hidden, would load
    /// the icon; at this size it is drawn from SVG.
    public func setIconWhenShown(_ name: String) { onMap { adw_status_page_set_icon_name($0.cast(), name) } }

    public var title: String {
        get { String(cString: adw_status_page_get_title(cast())) }
        set { adw_status_page_set_title(cast(), newValue) }
    }

    /// Pango markup.
    public var descriptionMarkup: String? {
        get { adw_status_page_get_description(cast()).map { String(cString: $0) } }
        set { adw_status_page_set_description(cast(), newValue) }
    }
}

/// Pages side by side, or one at a time if they do not fit.
public final class Leaflet: Widget {
    /// Whether there is room for a single page only.
    public var isFolded: Bool { adw_leaflet_get_folded(cast()) != 0 }

    public var visibleChildName: String? {
        get { adw_leaflet_get_visible_child_name(cast()).map { String(cString: $0) } }
        set { adw_leaflet_set_visible_child_name(cast(), newValue) }
    }
}

/// A short message over a window's content.
public final class Toast: Object {
    /// - Parameter title: Plain text.
    public convenience init(_ title: String) {
        self.init(owning: UnsafeMutableRawPointer(adw_toast_new(Markup.escaped(title))))
    }

    public func setButton(_ label: String, _ handler: @escaping @MainActor () -> Void) {
        adw_toast_set_button_label(cast(), label)
        connect("button-clicked") { _ in handler() }
    }
}

/// Content with toasts over it.
public final class ToastOverlay: Widget {
    public func add(_ toast: Toast) { adw_toast_overlay_add_toast(cast(), toast.retained()) }

    /// The toasts that are shown.
    public var toasts: [Widget] { children.filter { $0.cssName == "toast" } }
}

/// The position and size of a widget in its parent, in pixels.
public struct Allocation: Equatable, Sendable {
    public var x: Int
    public var y: Int
    public var width: Int
    public var height: Int

    public init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }
}

extension Overlay {
    /// Adds a widget over the child, at the position that `place` returns on each allocation of the overlay; `nil`
    /// leaves the position to GTK. The overlay owns the closure, which must capture neither strongly.
    public func addOverlay(_ widget: Widget, at place: @escaping @MainActor (Overlay) -> Allocation?) {
        gtk_overlay_add_overlay(cast(), widget.cast())
        let pointer = widget.pointer
        intercept("get-child-position") { arguments in
            guard arguments.object(0) == pointer, let overlay = arguments.emitter, let result = arguments.boxed(1),
                let allocation = place(Overlay(borrowing: overlay))
            else { return false }
            result.assumingMemoryBound(to: GdkRectangle.self).pointee = GdkRectangle(
                x: gint(clamping: allocation.x), y: gint(clamping: allocation.y),
                width: gint(clamping: allocation.width), height: gint(clamping: allocation.height))
            return true
        }
    }
}

extension HeaderBar {
    /// Whether the bar shows the window's buttons that belong at its start.
    public var showsStartTitleButtons: Bool {
        get { adw_header_bar_get_show_start_title_buttons(cast()) != 0 }
        set { adw_header_bar_set_show_start_title_buttons(cast(), newValue ? 1 : 0) }
    }

    /// Whether the bar shows the window's buttons that belong at its end.
    public var showsEndTitleButtons: Bool {
        get { adw_header_bar_get_show_end_title_buttons(cast()) != 0 }
        set { adw_header_bar_set_show_end_title_buttons(cast(), newValue ? 1 : 0) }
    }
}

extension TextView {
    /// Sets the space around the text, in pixels.
    public func setMargins(horizontal: Int, vertical: Int) {
        gtk_text_view_set_left_margin(cast(), gint(horizontal))
        gtk_text_view_set_right_margin(cast(), gint(horizontal))
        gtk_text_view_set_top_margin(cast(), gint(vertical))
        gtk_text_view_set_bottom_margin(cast(), gint(vertical))
    }
}

extension Widget {
    public var isTextView: Bool { isInstance(of: gtk_text_view_get_type()) }
}
