import CGtk
import FoundationEssentials

/// Sends notifications to a daemon that implements the freedesktop.org specification, which most desktops have.
///
/// GNotification supports such daemons too, but passes the body as markup, drops images, and shows two notifications if
/// the second is sent before the daemon has replied to the first (GLib 2.74 to 2.88).
final class FreedesktopNotifier: Notifier {
    /// A notification that was sent or is to be sent.
    private struct Entry {
        /// The notification to send next, if any.
        var waiting: DesktopNotification?
        /// The notification whose actions the user can invoke.
        var sent: DesktopNotification
        /// The daemon's ID, once it has replied.
        var number: UInt32?
        var isSending = false
        var isWithdrawn = false
        /// Lets the window that the next action presents get the focus, which Wayland compositors give to no other.
        var token: String?
    }

    var onReply: (@MainActor (_ target: String, _ text: String) -> Void)?
    private let application: Application
    private let daemon = BusObject(
        name: "org.freedesktop.Notifications", path: "/org/freedesktop/Notifications",
        interface: "org.freedesktop.Notifications")
    private var entries: [String: Entry] = [:]
    private var subscriptions: [BusSubscription?] = []
    /// `nil` until the daemon has reported them.
    private var capabilities: Set<String>?

    init(_ application: Application) {
        self.application = application
        subscriptions = [
            daemon.subscribe(to: "ActivationToken") { [weak self] in self?.receivedToken($0) },
            daemon.subscribe(to: "ActionInvoked") { [weak self] in self?.invoked($0) },
            daemon.subscribe(to: "NotificationReplied") { [weak self] in self?.replied($0) },
            daemon.subscribe(to: "NotificationClosed") { [weak self] in self?.closed($0) },
        ]
        // Their actions would do nothing: unlike GNotification's, they do not start the program.
        application.onShutdown { [weak self] in self?.withdrawAll() }
    }

    func send(_ notification: DesktopNotification, as id: String) {
        var entry = entries[id] ?? Entry(sent: notification)
        // The sound of what it replaces was not played yet.
        let playsSound = notification.playsSound || entry.waiting?.playsSound == true
        entry.waiting = notification
        entry.waiting?.playsSound = playsSound
        entry.isWithdrawn = false
        entries[id] = entry
        guard capabilities == nil else { return advance(id) }
        daemon.call("GetCapabilities") { [weak self] answer in
            guard let self else { return }
            // Without a reply, assume that the body is markup: escaping too much is harmless.
            capabilities = answer.flatMap { BusValue.texts($0, 0).map { Set($0) } } ?? ["body-markup"]
            for id in Array(entries.keys) { advance(id) }
        }
    }

    func withdraw(_ id: String) {
        entries[id]?.isWithdrawn = true
        entries[id]?.waiting = nil
        if capabilities == nil { entries[id] = nil }
        advance(id)
    }

    private func withdrawAll() {
        for id in Array(entries.keys) { withdraw(id) }
        SessionBus.flush()
    }

    /// Performs the next step for a notification, one at a time: replacing or closing it requires the ID in the
    /// daemon's reply.
    private func advance(_ id: String) {
        guard let capabilities, var entry = entries[id], !entry.isSending else { return }
        if let notification = entry.waiting {
            entry.waiting = nil
            entry.isSending = true
            entry.sent = notification
            entries[id] = entry
            daemon.call("Notify", arguments(of: notification, replacing: entry.number ?? 0, capabilities)) {
                [weak self] answer in
                self?.entries[id]?.isSending = false
                if let number = answer.flatMap({ BusValue.uint32($0, 0) }) { self?.entries[id]?.number = number }
                self?.advance(id)
            }
        } else if entry.isWithdrawn {
            entries[id] = nil
            if let number = entry.number { daemon.call("CloseNotification", [BusValue.uint32(number)]) }
        }
    }

    private func arguments(
        of notification: DesktopNotification, replacing number: UInt32, _ capabilities: Set<String>
    ) -> [OpaquePointer?] {
        let isMarkup = capabilities.contains("body-markup")
        let body = isMarkup ? Markup.escaped(notification.body) : notification.body
        var actions = ["default", ""]
        for (index, button) in notification.buttons.enumerated() {
            let key = button.acceptsText && capabilities.contains(Self.inlineReply) ? Self.inlineReply : "\(index)"
            actions += [key, button.label]
        }
        var hints: [(name: String, value: OpaquePointer?)] = [
            ("desktop-entry", BusValue.text(application.id)),
            ("urgency", BusValue.byte(1)),
        ]
        if let category = notification.category { hints.append(("category", BusValue.text(category))) }
        if let image = notification.icon.flatMap({ Self.image($0) }) { hints.append(("image-data", image)) }
        if !notification.playsSound {
            hints.append(("suppress-sound", BusValue.bool(true)))
        } else if capabilities.contains("sound") {
            hints.append(("sound-name", BusValue.text("message-new-instant")))
        } else {
            AlertSound.play(of: application)
        }
        let timeout: Int32 = -1
        let name = (g_get_application_name() ?? g_get_prgname()).map { String(cString: $0) }
        return [
            BusValue.text(name ?? application.id), BusValue.uint32(number),
            BusValue.text(application.id), BusValue.text(notification.title), BusValue.text(body),
            BusValue.texts(capabilities.contains("actions") ? actions : []), BusValue.options(hints),
            BusValue.int32(timeout),
        ]
    }

    /// The pixels of a PNG image as `(iiibiiay)`, or `nil` if it cannot be decoded.
    private static func image(_ png: Data) -> OpaquePointer? {
        let bytes = png.withUnsafeBytes { g_bytes_new($0.baseAddress, gsize($0.count)) }
        defer { g_bytes_unref(bytes) }
        guard let texture = gdk_texture_new_from_bytes(bytes, nil) else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
        let (width, height) = (Int(gdk_texture_get_width(texture)), Int(gdk_texture_get_height(texture)))
        var pixels = [UInt8](repeating: 0, count: width * height * 4)
        pixels.withUnsafeMutableBufferPointer { gdk_texture_download(texture, $0.baseAddress, gsize(width * 4)) }
        // Convert premultiplied ARGB in native byte order to straight RGBA bytes.
        for start in stride(from: 0, to: pixels.count, by: 4) {
            let alpha = Int(pixels[start + 3])
            let (blue, green, red) = (Int(pixels[start]), Int(pixels[start + 1]), Int(pixels[start + 2]))
            for (offset, value) in [red, green, blue].enumerated() {
                pixels[start + offset] = alpha == 0 ? 0 : UInt8(min(255, value * 255 / alpha))
            }
        }
        return BusValue.tuple([
            BusValue.int32(Int32(width)), BusValue.int32(Int32(height)), BusValue.int32(Int32(width * 4)),
            BusValue.bool(true), BusValue.int32(8), BusValue.int32(4), BusValue.bytes(pixels),
        ])
    }

    // MARK: Answers

    /// The capability of daemons with inline replies, which is also the action's key.
    private static let inlineReply = "inline-reply"

    /// The ID of the notification that a signal is about, or `nil` if it is another program's.
    private func sentID(in arguments: OpaquePointer) -> String? {
        guard let number = BusValue.uint32(arguments, 0) else { return nil }
        return entries.first { $0.value.number == number }?.key
    }

    private func replied(_ arguments: OpaquePointer) {
        guard let text = BusValue.text(arguments, 1), let id = sentID(in: arguments),
            let button = entries[id]?.sent.buttons.first(where: \.acceptsText)
        else { return }
        onReply?(button.action.target, text)
    }

    /// The token comes before the action that it belongs to (specification 1.2).
    private func receivedToken(_ arguments: OpaquePointer) {
        guard let id = sentID(in: arguments) else { return }
        entries[id]?.token = BusValue.text(arguments, 1)
    }

    private func invoked(_ arguments: OpaquePointer) {
        guard let key = BusValue.text(arguments, 1), let id = sentID(in: arguments),
            let notification = entries[id]?.sent
        else { return }
        // It is valid once.
        let token = entries[id]?.token
        entries[id]?.token = nil
        if key == "default" {
            let action = notification.defaultAction
            application.activate(action.name, action.target, token: token)
        } else if let index = Int(key), notification.buttons.indices.contains(index) {
            let action = notification.buttons[index].action
            application.activate(action.name, action.target, token: token)
        }
    }

    private func closed(_ arguments: OpaquePointer) {
        guard let id = sentID(in: arguments) else { return }
        // The next one gets a new ID.
        entries[id]?.number = nil
        if entries[id]?.waiting == nil, entries[id]?.isSending == false { entries[id] = nil }
    }
}
