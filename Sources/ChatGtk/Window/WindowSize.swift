import CGtk
import GtkKit

/// Restores the size of a window from the settings, and stores it there.
struct WindowSize {
    let settings: Settings?

    func restore(_ window: Widget) {
        var size = (width: Int32(1000), height: Int32(720))
        if let settings { size = (Int32(settings.int("window-width")), Int32(settings.int("window-height"))) }
        gtk_window_set_default_size(window.cast(), size.width, size.height)
        if settings?.bool("window-maximized") == true { gtk_window_maximize(window.cast()) }
    }

    func store(_ window: Widget) {
        guard let settings else { return }
        var (width, height): (Int32, Int32) = (0, 0)
        gtk_window_get_default_size(window.cast(), &width, &height)
        settings.set("window-width", Int(width))
        settings.set("window-height", Int(height))
        settings.set("window-maximized", gtk_window_is_maximized(window.cast()) != 0)
    }
}
