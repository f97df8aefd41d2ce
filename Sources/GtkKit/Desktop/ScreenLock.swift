import CGtk
public import Observation

/// Whether the desktop's screen is locked, as far as it tells: GNOME and what implements the freedesktop.org interface do.
@Observable
@MainActor public final class ScreenLock {
    /// `false` while nobody has told otherwise.
    public private(set) var isLocked = false

    @ObservationIgnored private var subscriptions: [BusSubscription?] = []
    private static let services = [
        ("org.gnome.ScreenSaver", "/org/gnome/ScreenSaver"),
        ("org.freedesktop.ScreenSaver", "/org/freedesktop/ScreenSaver"),
    ]

    public init() {
        for (name, path) in Self.services {
            let service = BusObject(name: name, path: path, interface: name)
            subscriptions.append(
                service.subscribe(to: "ActiveChanged") { [weak self] arguments in
                    if let isActive = BusValue.bool(arguments, 0) { self?.isLocked = isActive }
                })
            // A service that does not run must not be started for the question: most would show nothing and stay.
            guard SessionBus.hasOwner(name) else { continue }
            service.call("GetActive") { [weak self] answer in
                if let isActive = answer.flatMap({ BusValue.bool($0, 0) }) { self?.isLocked = isActive }
            }
        }
    }
}
