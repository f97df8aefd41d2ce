/// A message of another user that has just arrived.
public struct MessageArrival: Equatable, Sendable {
    public var message: Message
    /// The sender's display name, or their user ID if they have none.
    public var senderName: String
    /// The level according to the push rules; never ``NotificationLevel/none``.
    public var level: NotificationLevel
    /// Whether the push rules suppress the sound.
    public var isSilent: Bool
    /// Whether it arrived while the account caught up with its server, as after sleep. One notification is enough for
    /// all such messages.
    public var isMissed: Bool
    /// Whether the user had read the message before an edit made it a mention. It does not count as unread.
    public var wasRead: Bool

    public init(
        message: Message, senderName: String, level: NotificationLevel, isSilent: Bool = false, isMissed: Bool = false,
        wasRead: Bool = false
    ) {
        self.message = message
        self.senderName = senderName
        self.level = level
        self.isSilent = isSilent
        self.isMissed = isMissed
        self.wasRead = wasRead
    }
}

/// Reports new messages for notifications.
public protocol NotificationService: Sendable {
    /// The unread messages that arrive from now on and notify according to the push rules, in order and without
    /// omissions. Excludes fetched history and messages from before the program's start.
    func arrivals() -> AsyncStream<MessageArrival>
}

extension NotificationService {
    /// For backends without other users.
    public func arrivals() -> AsyncStream<MessageArrival> { AsyncStream { $0.finish() } }
}
