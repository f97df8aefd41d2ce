import CGtk
import FoundationEssentials

/// Sends notifications in a Flatpak: directly to the notification portal if it supports inline replies, which
/// GNotification does not, and through GNotification otherwise.
final class PortalNotifier: Notifier {
    private enum Way {
        case gNotification
        /// The portal supports inline replies, and these categories.
        case portal(categories: Set<String>)
    }

    /// A request from before the portal has reported its capabilities.
    private enum Request {
        case send(DesktopNotification, id: String)
        case withdraw(id: String)
    }

    var onReply: (@MainActor (_ target: String, _ text: String) -> Void)?
    private let gNotification: ApplicationNotifier
    private let portal: BusObject
    /// `nil` until the portal has replied.
    private var way: Way?
    private var isAsking = false
    private var waiting: [Request] = []
    /// Notifications that the portal has received and that were not withdrawn.
    private var sent: [String: DesktopNotification] = [:]
    private var subscription: BusSubscription?

    init(_ application: Application, named name: String = "org.freedesktop.portal.Desktop") {
        gNotification = ApplicationNotifier(application)
        portal = BusObject(name: name, path: "/org/freedesktop/portal/desktop", interface: Self.interface)
        subscription = portal.subscribe(to: "ActionInvoked") { [weak self] in self?.invoked($0) }
        // Inline replies only reach a running program.
        application.onShutdown { [weak self] in self?.withdrawAnswerable() }
    }

    func send(_ notification: DesktopNotification, as id: String) { perform(.send(notification, id: id)) }

    func withdraw(_ id: String) { perform(.withdraw(id: id)) }

    private func perform(_ request: Request) {
        guard let way else {
            waiting.append(request)
            return ask()
        }
        switch (request, way) {
        case (.send(let notification, let id), .gNotification): gNotification.send(notification, as: id)
        case (.withdraw(let id), .gNotification): gNotification.withdraw(id)
        case (.send(let notification, let id), .portal(let categories)): add(notification, id, categories)
        case (.withdraw(let id), .portal):
            sent[id] = nil
            portal.call("RemoveNotification", [BusValue.text(id)])
        }
    }

    private func ask() {
        guard !isAsking else { return }
        isAsking = true
        let properties = BusObject(
            name: portal.name, path: portal.path, interface: "org.freedesktop.DBus.Properties")
        properties.call("Get", [BusValue.text(Self.interface), BusValue.text("SupportedOptions")]) {
            [weak self] answer in
            guard let self else { return }
            // Portals before version 2 lack the property.
            let options = answer.map { BusValue.textsByName($0, 0) } ?? [:]
            let asksForText = options["button-purpose"]?.contains(Self.replyPurpose) == true
            way = asksForText ? .portal(categories: Set(options["category"] ?? [])) : .gNotification
            let requests = waiting
            waiting = []
            for request in requests { perform(request) }
        }
    }

    private func add(_ notification: DesktopNotification, _ id: String, _ categories: Set<String>) {
        sent[id] = notification
        portal.call("AddNotification", [BusValue.text(id), Self.options(of: notification, categories)]) {
            [weak self] answer in
            guard answer == nil, let self, sent[id] == notification else { return }
            // A notification without an inline reply is better than none.
            sent[id] = nil
            way = .gNotification
            gNotification.send(notification, as: id)
        }
    }

    private func withdrawAnswerable() {
        for (id, notification) in sent where notification.buttons.contains(where: \.acceptsText) { withdraw(id) }
        SessionBus.flush()
    }

    private func invoked(_ arguments: OpaquePointer) {
        guard let id = BusValue.text(arguments, 0), let action = BusValue.text(arguments, 1),
            let button = sent[id]?.buttons.first(where: { $0.acceptsText && $0.action.name == action }),
            // The target, then the typed text, among platform data.
            case let texts = BusValue.textsOfVariants(arguments, 2), texts.count > 1, let text = texts.last,
            texts.first == button.action.target
        else { return }
        onReply?(button.action.target, text)
    }

    // MARK: Values

    private static let interface = "org.freedesktop.portal.Notification"
    private static let replyPurpose = "im.reply-with-text"
    /// The desktop then hides the texts while the screen is locked, also those that were sent before. Every portal with
    /// purposes knows it, and rejects a notification with an unknown one.
    private static let hidesContent = "hide-content-on-lock-screen"

    private static func options(of notification: DesktopNotification, _ categories: Set<String>) -> OpaquePointer? {
        let action = notification.defaultAction
        var options: [(name: String, value: OpaquePointer?)] = [
            ("title", BusValue.text(notification.title)), ("body", BusValue.text(notification.body)),
            ("priority", BusValue.text(notification.isImportant ? "high" : "normal")),
            ("sound", BusValue.text(notification.playsSound ? "default" : "silent")),
            ("default-action", BusValue.text("app.\(action.name)")),
            ("default-action-target", BusValue.text(action.target)),
            ("display-hint", BusValue.texts([hidesContent])),
        ]
        if let icon = notification.icon {
            options.append(
                ("icon", BusValue.tuple([BusValue.text("bytes"), BusValue.variant(BusValue.bytes(Array(icon)))])))
        }
        if let category = notification.category, categories.contains(category) {
            options.append(("category", BusValue.text(category)))
        }
        if !notification.buttons.isEmpty {
            options.append(("buttons", BusValue.array(of: "a{sv}", notification.buttons.map { self.button($0) })))
        }
        return BusValue.options(options)
    }

    /// An action with the prefix `app.` is activated on the program, starting it if needed, but without the text. So
    /// the action of an inline reply has no prefix, and arrives as a signal of the portal.
    private static func button(_ button: DesktopNotification.Button) -> OpaquePointer? {
        let name = button.action.name
        var options: [(name: String, value: OpaquePointer?)] = [
            ("label", BusValue.text(button.label)), ("target", BusValue.text(button.action.target)),
            ("action", BusValue.text(button.acceptsText ? name : "app.\(name)")),
        ]
        if button.acceptsText { options.append(("purpose", BusValue.text(replyPurpose))) }
        return BusValue.options(options)
    }
}
