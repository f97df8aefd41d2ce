public import ChatCore

/// A notification about a room. A new one replaces the previous one.
public nonisolated struct RoomNotification: Equatable, Sendable {
    public nonisolated enum Kind: Equatable, Sendable {
        case messages, invitation, failure
        /// Messages of several rooms that arrived while catching up.
        case summary
        /// Another device or user requests verification.
        case verification
    }

    public var kind: Kind
    public var target: NotificationTarget
    public var title: String
    public var body: String
    /// The URI of the room's avatar, or `nil` if there is none or it must not be shown.
    public var avatar: String?
    public var isImportant = false
    public var playsSound = false
    /// Whether the user can reply, if it is answerable.
    public var acceptsReply = true

    public init(
        kind: Kind, target: NotificationTarget, title: String, body: String, avatar: String? = nil,
        isImportant: Bool = false, playsSound: Bool = false, acceptsReply: Bool = true
    ) {
        self.kind = kind
        self.target = target
        self.title = title
        self.body = body
        self.avatar = avatar
        self.isImportant = isImportant
        self.playsSound = playsSound
        self.acceptsReply = acceptsReply
    }

    /// Whether the user can mark the room as read, and reply unless they may not (``acceptsReply``).
    public var isAnswerable: Bool { kind == .messages }
}

/// Shows notifications on the desktop.
@MainActor
public protocol RoomNotificationPresenter: AnyObject {
    /// Shows a notification, replacing the one with the same identifier.
    /// - Parameter media: loads the avatar.
    func show(_ notification: RoomNotification, as id: String, media: any MediaService)
    /// Withdraws a notification, if it is still shown.
    func withdraw(_ id: String)
}
