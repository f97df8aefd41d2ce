import CGtk
public import Observation

/// Whether the desktop's screen is locked, on GNOME and on desktops with the freedesktop.org interface.
@Observable
@MainActor public final class ScreenLock {
    public static let desktop = ScreenLock()

    /// `false` unless the desktop has reported otherwise, see ``follow()``.
    public package(set) var isLocked = false

    /// The services that have reported it.
    @ObservationIgnored private var lockedBy: Set<String> = []
    @ObservationIgnored private var subscriptions: [BusSubscription?] = []
    private static let services = [
        ("org.gnome.ScreenSaver", "/org/gnome/ScreenSaver"),
        ("org.freedesktop.ScreenSaver", "/org/freedesktop/ScreenSaver"),
    ]

    init() {}

    /// Asks the desktop, and follows its reports until the program ends.
    public func follow() {
        guard subscriptions.isEmpty else { return }
        for (name, path) in Self.services {
            let service = BusObject(name: name, path: path, interface: name)
            subscriptions.append(
                service.subscribe(to: "ActiveChanged") { [weak self] arguments in
                    if let isActive = BusValue.bool(arguments, 0) { self?.note(isActive, by: name) }
                })
            // A service that ends while the screen is locked reports nothing.
            subscriptions.append(
                SessionBus.daemon.subscribe(to: "NameOwnerChanged", about: name) { [weak self] arguments in
                    if BusValue.text(arguments, 2)?.isEmpty == true { self?.note(false, by: name) }
                })
            // Do not start a service just to ask it: most would show nothing and keep running.
            SessionBus.askForOwner(of: name) { [weak self] hasOwner in
                guard hasOwner else { return }
                service.call("GetActive") { [weak self] answer in
                    if let isActive = answer.flatMap({ BusValue.bool($0, 0) }) { self?.note(isActive, by: name) }
                }
            }
        }
    }

    private func note(_ isActive: Bool, by service: String) {
        if isActive { lockedBy.insert(service) } else { lockedBy.remove(service) }
        if isLocked == lockedBy.isEmpty { isLocked = !lockedBy.isEmpty }
    }
}
