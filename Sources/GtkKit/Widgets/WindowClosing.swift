import CGtk

extension Widget {
    /// Closes this widget, which must be a window, as if the user had done so.
    public func closeWindow() { gtk_window_close(cast()) }
}
