import CGtk
public import Observation

/// Whether the desktop's screen is locked, on GNOME and on desktops with the freedesktop.org interface.
@Observable
@MainActor public final class ScreenLock {
    public static let desktop = ScreenLock()

    /// `false` unless the desktop has reported otherwise, see ``follow()``.
    public package(set) var isLocked = false

    @ObservationIgnored private var subscriptions: [BusSubscription?] = []
    private static let services = [
        ("org.gnome.ScreenSaver", "/org/gnome/ScreenSaver"),
        ("org.freedesktop.ScreenSaver", "/org/freedesktop/ScreenSaver"),
    ]

    private init() {}

    /// Asks the desktop, and follows its reports until the program ends.
    public func follow() {
        guard subscriptions.isEmpty else { return }
        for (name, path) in Self.services {
            let service = BusObject(name: name, path: path, interface: name)
            subscriptions.append(
                service.subscribe(to: "ActiveChanged") { [weak self] arguments in
                    if let isActive = BusValue.bool(arguments, 0) { self?.isLocked = isActive }
                })
            // Do not start a service just to ask it: most would show nothing and keep running.
            guard SessionBus.hasOwner(name) else { continue }
            service.call("GetActive") { [weak self] answer in
                if let isActive = answer.flatMap({ BusValue.bool($0, 0) }) { self?.isLocked = isActive }
            }
        }
    }
}
