/// Sends notifications to GNOME Shell where it runs, and elsewhere to a daemon that implements the freedesktop.org
/// specification.
final class DesktopNotifier: Notifier {
    /// A request from before the session bus has said which of them is there.
    private enum Request {
        case send(DesktopNotification, id: String)
        case withdraw(id: String)
    }

    var onReply: (@MainActor (_ target: String, _ text: String) -> Void)? {
        didSet { notifier?.onReply = onReply }
    }
    /// `nil` until the bus has answered.
    private(set) var notifier: (any Notifier)?
    private var waiting: [Request] = []

    init(_ application: Application) {
        SessionBus.askForOwner(of: "org.gtk.Notifications") { [weak self] isGNOME in
            self?.use(isGNOME ? ApplicationNotifier(application) : FreedesktopNotifier(application))
        }
    }

    func send(_ notification: DesktopNotification, as id: String) {
        guard let notifier else { return waiting.append(.send(notification, id: id)) }
        notifier.send(notification, as: id)
    }

    func withdraw(_ id: String) {
        guard let notifier else { return waiting.append(.withdraw(id: id)) }
        notifier.withdraw(id)
    }

    private func use(_ notifier: any Notifier) {
        notifier.onReply = onReply
        self.notifier = notifier
        let requests = waiting
        waiting = []
        for request in requests {
            switch request {
            case .send(let notification, let id): send(notification, as: id)
            case .withdraw(let id): withdraw(id)
            }
        }
    }
}
