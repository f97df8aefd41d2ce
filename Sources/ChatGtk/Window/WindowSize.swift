import GtkKit

/// Restores the size of a window from the settings, and stores it there.
struct WindowSize {
    let settings: Settings?

    /// The height at which the window appears, or `nil` if that depends on the display.
    var height: Int? {
        if settings?.bool("window-maximized") == true { return nil }
        return settings?.int("window-height") ?? Self.usual.height
    }

    private static let usual = (width: 1000, height: 720)

    func restore(_ window: TopLevel) {
        var size = Self.usual
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
