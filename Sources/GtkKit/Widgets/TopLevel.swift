import CGtk

/// The root of a widget tree, usually a window.
public final class Root: Widget {
    /// The widget that has the window's focus.
    public var focus: Widget? {
        get { Widget(of: gtk_root_get_focus(cast())) }
        set { gtk_root_set_focus(cast(), newValue?.cast()) }
    }

    /// Calls `handler` once another widget has the window's focus. It may move the focus on: unlike at a focus
    /// controller's signals, GTK has finished moving it.
    @discardableResult
    public func onFocusMove(_ handler: @escaping @MainActor () -> Void) -> SignalConnection {
        connect("notify::focus-widget") { _ in handler() }
    }
}

/// A window.
open class TopLevel: Widget {
    public final var title: String? {
        get { gtk_window_get_title(cast()).map { String(cString: $0) } }
        set { gtk_window_set_title(cast(), newValue) }
    }

    public final var isModal: Bool {
        get { gtk_window_get_modal(cast()) != 0 }
        set { gtk_window_set_modal(cast(), newValue ? 1 : 0) }
    }

    /// Whether this is the active window, which receives the keyboard input.
    public final var isActive: Bool { gtk_window_is_active(cast()) != 0 }
    public final var isMaximized: Bool { gtk_window_is_maximized(cast()) != 0 }

    public final var isFullscreen: Bool {
        get { gtk_window_is_fullscreen(cast()) != 0 }
        set { if newValue { gtk_window_fullscreen(cast()) } else { gtk_window_unfullscreen(cast()) } }
    }

    /// The widget that has the focus.
    public final var focus: Widget? { Widget(of: gtk_window_get_focus(cast())) }

    /// The size of the window when it is neither maximized nor fullscreen; -1 is the natural size.
    public final var defaultSize: (width: Int, height: Int) {
        var (width, height): (gint, gint) = (0, 0)
        gtk_window_get_default_size(cast(), &width, &height)
        return (Int(width), Int(height))
    }

    public final func setDefaultSize(width: Int, height: Int) {
        gtk_window_set_default_size(cast(), gint(clamping: width), gint(clamping: height))
    }

    /// Sets the accessible role that the window's class has. Call it if the window is not presented at once: GTK 4.8 sets
    /// the role only when it shows the window, and no longer if a screen reader has asked for the window before. The
    /// screen reader then knows a filler instead of a window.
    public final func setClassRole() { shim_set_class_role(pointer) }

    public final func present() { gtk_window_present(cast()) }
    public final func maximize() { gtk_window_maximize(cast()) }
    /// Destroys the window without asking.
    public final func destroy() { gtk_window_destroy(cast()) }

    /// Calls `handler` when ``isActive`` changes.
    @discardableResult
    public final func onActiveChange(_ handler: @escaping @MainActor () -> Void) -> SignalConnection {
        connect("notify::is-active") { _ in handler() }
    }

    /// - Parameter handler: Returns whether the window stays open.
    @discardableResult
    public final func onCloseRequest(_ handler: @escaping @MainActor () -> Bool) -> SignalConnection {
        intercept("close-request") { _ in handler() }
    }
}

/// A window whose title bar is part of its content.
public final class AdwaitaWindow: TopLevel {
    public convenience init() { self.init(sinking: adw_window_new()) }

    public func setContent(_ content: Widget?) { adw_window_set_content(cast(), content?.cast()) }
}

public final class HeaderBar: Widget {
    public convenience init() { self.init(sinking: adw_header_bar_new()) }

    public var titleWidget: Widget? {
        get { Widget(of: adw_header_bar_get_title_widget(cast())) }
        set { adw_header_bar_set_title_widget(cast(), newValue?.cast()) }
    }

    /// Hides the back button that newer versions add in a folded split view, in favor of the program's own.
    public func hideBackButton() { shim_hide_back_button(pointer) }

    public func packStart(_ child: Widget) { adw_header_bar_pack_start(cast(), child.cast()) }
    public func packEnd(_ child: Widget) { adw_header_bar_pack_end(cast(), child.cast()) }
}

/// A title with a subtitle.
public final class WindowTitle: Widget {
    public convenience init(_ title: String = "") { self.init(sinking: adw_window_title_new(title, nil)) }

    public func setTitle(_ title: String) { adw_window_title_set_title(cast(), title) }
    public func setSubtitle(_ subtitle: String?) { adw_window_title_set_subtitle(cast(), subtitle) }
}

extension WidgetProtocol {
    /// The window that contains the widget, or `nil` outside of one.
    public var window: TopLevel? {
        guard let root, root.isInstance(of: gtk_window_get_type()) else { return nil }
        return TopLevel(borrowing: root.pointer)
    }
}

extension TopLevel {
    /// Keeps the window over the one that contains `widget`.
    public func setTransient(for widget: Widget) {
        let parent = widget.window
        gtk_window_set_transient_for(cast(), parent?.cast())
    }

    /// Keeps the application running while the window exists.
    public func setApplication(_ application: Application) { gtk_window_set_application(cast(), application.cast()) }

    /// Closes the window on Escape.
    public func closeOnEscape() {
        let keys = ShortcutController()
        gtk_shortcut_controller_add_shortcut(
            keys.cast(),
            gtk_shortcut_new(
                gtk_keyval_trigger_new(guint(GDK_KEY_Escape), GdkModifierType(rawValue: 0)),
                gtk_named_action_new("window.close")))
        addController(keys)
    }
}

private final class ShortcutController: EventController {
    convenience init() {
        self.init(owning: UnsafeMutableRawPointer(gtk_shortcut_controller_new()))
    }
}
