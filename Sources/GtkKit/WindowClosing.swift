import CGtk

extension Widget {
    /// Closes the window that this widget is, as the user does.
    public func closeWindow() { gtk_window_close(cast()) }
}
