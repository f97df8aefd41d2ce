import GtkKit

/// Restores the size of a window from the settings, and stores it there.
struct WindowSize {
    let settings: Settings?

    func restore(_ window: TopLevel) {
        var size = (width: 1000, height: 720)
        if let settings { size = (settings.int("window-width"), settings.int("window-height")) }
        window.setDefaultSize(width: size.width, height: size.height)
        if settings?.bool("window-maximized") == true { window.maximize() }
    }

    func store(_ window: TopLevel) {
        guard let settings else { return }
        let size = window.defaultSize
        settings.set("window-width", size.width)
        settings.set("window-height", size.height)
        settings.set("window-maximized", window.isMaximized)
    }
}
