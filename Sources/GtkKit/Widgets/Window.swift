import CGtk

/// An application window.
public final class Window: Widget {
    /// - Parameters:
    ///   - width: The default width in logical pixels, as is `height`.
    ///   - content: The child below the title bar.
    public convenience init(_ application: Application, title: String, width: Int, height: Int, content: Widget) {
        self.init(sinking: gtk_application_window_new(application.cast()))
        gtk_window_set_title(cast(), title)
        gtk_window_set_default_size(cast(), gint(clamping: width), gint(clamping: height))
        gtk_window_set_child(cast(), content.cast())
    }

    public func present() { gtk_window_present(cast()) }
}
