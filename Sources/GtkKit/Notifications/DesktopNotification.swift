public import FoundationEssentials

/// A notification of the desktop, with what happens when the user answers it.
public nonisolated struct DesktopNotification: Equatable, Sendable {
    /// An action of the application, without the prefix `app.`, and the text it is activated with.
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
        /// Whether the desktop asks for a text where it can, for ``Notifier/onReply`` in place of the action.
        public var acceptsText: Bool

        public init(_ label: String, _ action: Action, acceptsText: Bool = false) {
            self.label = label
            self.action = action
            self.acceptsText = acceptsText
        }
    }

    /// In plain text, as is the body.
    public var title: String
    public var body: String
    /// A PNG image.
    public var icon: Data?
    /// A category of the freedesktop.org specification, such as `im.received`.
    public var category: String?
    /// Whether the desktop is to show it before others.
    public var isImportant: Bool
    public var playsSound: Bool
    /// What a click on the notification itself does.
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
    /// Receives what the user wrote into a notification, with the target of the button's action.
    var onReply: (@MainActor (_ target: String, _ text: String) -> Void)? { get set }
    /// Shows a notification, in place of the one that has the same identifier.
    func send(_ notification: DesktopNotification, as id: String)
    /// Takes a notification back. Does nothing if there is none, or the user has dismissed it.
    func withdraw(_ id: String)
}
