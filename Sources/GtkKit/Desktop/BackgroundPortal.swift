import CGtk
import FoundationEssentials

/// The portal that lets a sandboxed program run without a window and start at login.
@MainActor
public final class BackgroundPortal {
    /// What the desktop or the user has allowed.
    public struct Permission: Equatable, Sendable {
        public let runsInBackground: Bool
        public let startsAtLogin: Bool
    }

    private let portal: BusObject
    /// Requests without a response yet, by object path.
    private var pending: [String: BusSubscription?] = [:]
    private var count = 0

    /// Returns the portal in a Flatpak, or `nil` outside, where programs need no permission.
    public static func ofSandbox() -> BackgroundPortal? {
        FileManager.default.fileExists(atPath: "/.flatpak-info") ? BackgroundPortal() : nil
    }

    init(named name: String = "org.freedesktop.portal.Desktop") {
        portal = BusObject(
            name: name, path: "/org/freedesktop/portal/desktop", interface: "org.freedesktop.portal.Background")
    }

    /// Asks for permission.
    /// - Parameters:
    ///   - reason: the reason, displayed to the user.
    ///   - commandLine: the command to run at login.
    ///   - done: receives the response, or `nil` if the portal is missing or has failed, or the user dismissed its
    ///   dialog.
    public func request(
        startsAtLogin: Bool, reason: String, commandLine: [String],
        _ done: @escaping @MainActor (Permission?) -> Void
    ) {
        count += 1
        let token = "parlance\(count)"
        let path = "\(portal.path)/request/\(SessionBus.ownPathElement)/\(token)"
        let request = BusObject(name: portal.name, path: path, interface: "org.freedesktop.portal.Request")
        // Subscribe before the call: the response may arrive before the call returns.
        pending[path] = request.subscribe(to: "Response") { [weak self] arguments in
            guard self?.pending.removeValue(forKey: path) != nil else { return }
            done(Self.permission(in: arguments))
        }
        let options: [(name: String, value: OpaquePointer?)] = [
            ("handle_token", BusValue.text(token)), ("reason", BusValue.text(reason)),
            ("autostart", BusValue.bool(startsAtLogin)), ("commandline", BusValue.texts(commandLine)),
        ]
        portal.call("RequestBackground", [BusValue.text(""), BusValue.options(options)]) { [weak self] answer in
            guard answer == nil, self?.pending.removeValue(forKey: path) != nil else { return }
            done(nil)
        }
    }

    /// Sets the program's status in the desktop's list of background apps. Portals before version 2 have no list.
    /// - Parameter status: at most 96 characters; empty for none.
    public func setStatus(_ status: String) {
        portal.call("SetStatus", [BusValue.options([("message", BusValue.text(String(status.prefix(96))))])])
    }

    private static func permission(in arguments: OpaquePointer) -> Permission? {
        guard BusValue.uint32(arguments, 0) == 0, let results = BusValue.bools(arguments, 1) else { return nil }
        return Permission(
            runsInBackground: results["background"] == true, startsAtLogin: results["autostart"] == true)
    }
}
