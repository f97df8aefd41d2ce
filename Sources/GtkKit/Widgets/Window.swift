import CGtk

/// An application window.
public final class Window: TopLevel {
    /// - Parameters:
    ///   - width: The default width in logical pixels, as is `height`.
    ///   - content: The child below the title bar.
    public convenience init(_ application: Application, title: String, width: Int, height: Int, content: Widget) {
        self.init(sinking: gtk_application_window_new(application.cast()))
        setClassRole()
        self.title = title
        setDefaultSize(width: width, height: height)
        gtk_window_set_child(cast(), content.cast())
    }
}
