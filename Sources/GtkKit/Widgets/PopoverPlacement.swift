import CGtk

/// Prevents popovers from opening if their anchor is not in a window, or not on any monitor.
///
/// An anchor may have left its window by the time that its popover opens, as when what completion offers arrives after
/// the room was left. GTK would then use the surface that the popover lacks, and crash.
///
/// On X11, GTK (4.8 to 4.24) looks up the anchor's monitor and reads uninitialized memory if there is none: the
/// popover gets a random position and a random, possibly negative size, which leads to a crash. This happens if a
/// key opens a menu after the user has dragged the window most of the way off the screen.
public enum PopoverPlacement {
    private typealias Show = @convention(c) (UnsafeMutablePointer<GtkWidget>?) -> Void

    /// GtkPopover's own implementation of `show`.
    private static var showPopover: Show?

    /// Runs once per process. Replaces `show` in the class, as GTK opens most popovers itself: those of menu buttons
    /// and entries.
    public static let installShowGuard: Void = {
        let type = gtk_popover_get_type()
        guard let widgetClass = g_type_class_ref(type)?.assumingMemoryBound(to: GtkWidgetClass.self) else { return }
        let original = widgetClass.pointee.show
        showPopover = original
        replaceShow(of: type, original)
    }()

    /// A subclass copies the implementation when its class is initialized, which may already have happened.
    private static func replaceShow(of type: GType, _ original: Show?) {
        guard let widgetClass = g_type_class_peek(type)?.assumingMemoryBound(to: GtkWidgetClass.self) else { return }
        if unsafeBitCast(widgetClass.pointee.show, to: Int.self) == unsafeBitCast(original, to: Int.self) {
            widgetClass.pointee.show = { widget in
                guard let widget else { return }
                nonisolated(unsafe) let popover = UnsafeMutableRawPointer(widget)
                MainActor.assumeIsolated { PopoverPlacement.show(Widget(borrowing: popover)) }
            }
        }
        var count: guint = 0
        guard let subtypes = g_type_children(type, &count) else { return }
        defer { g_free(subtypes) }
        for index in 0..<Int(count) { replaceShow(of: subtypes[index], original) }
    }

    private static func show(_ popover: Widget) {
        if canOpen(popover) {
            showPopover?(popover.cast())
        } else {
            // Untoggles a menu button that expects the popover to be shown.
            var values = [GValue()]
            g_value_init(&values[0], gtk_popover_get_type())
            g_value_set_object(&values[0], popover.pointer)
            g_signal_emitv(values, g_signal_lookup("closed", gtk_popover_get_type()), 0, nil)
            g_value_unset(&values[0])
        }
    }

    /// Returns whether the popover's anchor is in a window, and any part of it on a monitor, as far as the display gives
    /// positions.
    private static func canOpen(_ popover: Widget) -> Bool {
        guard let parent = gtk_widget_get_parent(popover.cast()), gtk_widget_get_root(parent) != nil,
            let native = gtk_widget_get_native(parent)
        else { return false }
        // GTK realizes the window if need be.
        guard let surface = gtk_native_get_surface(native) else { return true }
        var origin: (x: Int32, y: Int32) = (0, 0)
        guard shim_x11_root_position(surface, &origin.x, &origin.y) != 0 else { return true }
        var inset = (x: 0.0, y: 0.0)
        gtk_native_get_surface_transform(native, &inset.x, &inset.y)
        var pointed = GdkRectangle()
        if gtk_popover_get_pointing_to(popover.cast(), &pointed) == 0 {
            pointed = GdkRectangle(
                x: 0, y: 0, width: gtk_widget_get_width(parent), height: gtk_widget_get_height(parent))
        }
        var corner = (x: 0.0, y: 0.0)
        guard
            gtk_widget_translate_coordinates(
                parent, UnsafeMutableRawPointer(native).assumingMemoryBound(to: GtkWidget.self), Double(pointed.x),
                Double(pointed.y), &corner.x, &corner.y) != 0
        else { return true }
        var anchor = GdkRectangle(
            x: origin.x + Int32(inset.x + corner.x), y: origin.y + Int32(inset.y + corner.y),
            width: max(1, pointed.width), height: max(1, pointed.height))
        return monitors(of: surface).contains { monitor in
            var area = GdkRectangle()
            gdk_monitor_get_geometry(monitor, &area)
            return gdk_rectangle_intersect(&area, &anchor, nil) != 0
        }
    }

    private static func monitors(of surface: OpaquePointer) -> [OpaquePointer] {
        let list = gdk_display_get_monitors(gdk_surface_get_display(surface))
        return (0..<g_list_model_get_n_items(list)).compactMap { index in
            // The display keeps a reference of its own.
            guard let monitor = g_list_model_get_item(list, index) else { return nil }
            g_object_unref(monitor)
            return OpaquePointer(monitor)
        }
    }
}
