import CGtk
import GtkKit

/// Drawing that does not depend on the time.
enum StillDrawing {
    /// Ends all animations at once, and hides the scrollbars that GTK shows for some seconds after scrolling. The one
    /// that hints at more text is part of the composer.
    static func begin() {
        guard let settings = gtk_settings_get_default() else { return }
        Object(borrowing: UnsafeMutableRawPointer(settings)).setProperty("gtk-enable-animations", false)
        _ = hideScrollbars
    }

    private static let hideScrollbars: Void = {
        let provider = gtk_css_provider_new()
        shim_load_css(
            provider, "scrollbar.overlay-indicator { opacity: 0; } .overflow-hint scrollbar { opacity: 1; }")
        gtk_style_context_add_provider_for_display(
            gdk_display_get_default(), OpaquePointer(provider), guint(GTK_STYLE_PROVIDER_PRIORITY_USER))
        g_object_unref(provider)
    }()
}
