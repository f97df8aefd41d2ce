import CGtk

/// How carets blink, by the desktop's settings.
public struct CaretBlinking: Equatable, Sendable {
    /// The time from one appearance of the caret to the next.
    public var period: Duration
    /// The time without input after which the caret stays visible.
    public var timeout: Duration

    /// Keeps every caret visible from now on, whatever the desktop's settings.
    public static func stop() {
        isStopped = true
        settings?.setProperty(name, false)
    }

    fileprivate static var isStopped = false
    fileprivate static let name = "gtk-cursor-blink"
    fileprivate static var settings: Object? {
        gtk_settings_get_default().map { Object(borrowing: UnsafeMutableRawPointer($0)) }
    }
}

/// Keeps GTK from blinking the carets of the default display, for a widget with the focus that blinks its own.
///
/// Only the widget with the focus blinks: no other caret is affected as long as the object lives no longer than that.
@MainActor public final class CaretBlinkingOverride {
    private static var count = 0
    private static var overridden: CaretBlinking?

    /// How the caret should blink; `nil` if it should not.
    public var blinking: CaretBlinking? { CaretBlinking.isStopped ? nil : Self.overridden }

    public init() {
        Self.count += 1
        guard Self.count == 1, let settings = CaretBlinking.settings, settings.isOn(CaretBlinking.name) else { return }
        Self.overridden = CaretBlinking(
            period: .milliseconds(settings.integer("gtk-cursor-blink-time")),
            timeout: .seconds(settings.integer("gtk-cursor-blink-timeout")))
        settings.setProperty(CaretBlinking.name, false)
    }

    isolated deinit {
        Self.count -= 1
        guard Self.count == 0, Self.overridden != nil else { return }
        Self.overridden = nil
        // Not set back to true, which would hide later changes of the desktop's setting.
        guard !CaretBlinking.isStopped, let settings = gtk_settings_get_default() else { return }
        gtk_settings_reset_property(settings, CaretBlinking.name)
    }
}
