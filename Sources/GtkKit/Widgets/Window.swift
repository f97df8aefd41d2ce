import CGtk

/// A window of an application.
public final class Window: Widget {
    /// - Parameters:
    ///   - width: in logical pixels, as is `height`.
    ///   - content: what fills it, below the title.
    public convenience init(_ application: Application, title: String, width: Int, height: Int, content: Widget) {
        self.init(sinking: gtk_application_window_new(application.cast()))
        gtk_window_set_title(cast(), title)
        gtk_window_set_default_size(cast(), gint(clamping: width), gint(clamping: height))
        gtk_window_set_child(cast(), content.cast())
    }

    public func present() { gtk_window_present(cast()) }
}
