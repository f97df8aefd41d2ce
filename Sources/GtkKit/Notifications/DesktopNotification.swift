public import FoundationEssentials

/// A desktop notification with its actions.
public nonisolated struct DesktopNotification: Equatable, Sendable {
    /// An action of the application, without the prefix `app.`, and its text parameter.
    public struct Action: Equatable, Sendable {
        public var name: String
        public var target: String

        public init(_ name: String, _ target: String) {
            self.name = name
            self.target = target
        }
    }

    public struct Button: Equatable, Sendable {
        public var label: String
        public var action: Action
        /// Whether the button asks for a text, if the desktop supports it, which goes to ``Notifier/onReply`` instead
        /// of the action.
        public var acceptsText: Bool

        public init(_ label: String, _ action: Action, acceptsText: Bool = false) {
            self.label = label
            self.action = action
            self.acceptsText = acceptsText
        }
    }

    /// Plain text, like the body.
    public var title: String
    public var body: String
    /// A PNG image.
    public var icon: Data?
    /// A category of the freedesktop.org specification, such as `im.received`.
    public var category: String?
    /// Whether the notification has a high priority.
    public var isImportant: Bool
    public var playsSound: Bool
    /// The action of a click on the notification itself.
    public var defaultAction: Action
    public var buttons: [Button]

    public init(
        title: String, body: String, icon: Data? = nil, category: String? = nil, isImportant: Bool = false,
        playsSound: Bool = false, defaultAction: Action, buttons: [Button] = []
    ) {
        self.title = title
        self.body = body
        self.icon = icon
        self.category = category
        self.isImportant = isImportant
        self.playsSound = playsSound
        self.defaultAction = defaultAction
        self.buttons = buttons
    }
}

/// Shows notifications on the desktop.
@MainActor
public protocol Notifier: AnyObject {
    /// Receives inline replies, with the target of the button's action.
    var onReply: (@MainActor (_ target: String, _ text: String) -> Void)? { get set }
    /// Shows a notification, replacing the one with the same identifier.
    func send(_ notification: DesktopNotification, as id: String)
    /// Withdraws a notification. Does nothing if it does not exist or was dismissed.
    func withdraw(_ id: String)
}
