/// A message of another user that has just arrived.
public struct MessageArrival: Equatable, Sendable {
    public var message: Message
    /// The sender's display name, or else their identifier.
    public var senderName: String
    /// What push rules say of the message; never ``NotificationLevel/none``.
    public var level: NotificationLevel
    /// Whether push rules ask for no sound.
    public var isSilent: Bool
    /// Whether it arrived while the account caught up with its server, as after sleep: one notice for all such messages
    /// is enough.
    public var isMissed: Bool

    public init(
        message: Message, senderName: String, level: NotificationLevel, isSilent: Bool = false, isMissed: Bool = false
    ) {
        self.message = message
        self.senderName = senderName
        self.level = level
        self.isSilent = isSilent
        self.isMissed = isMissed
    }
}

/// What arrives from others, for notifications.
public protocol NotificationService: Sendable {
    /// The unread messages that arrive from now on and that push rules notify of, in the order in which they arrive.
    /// No history that was fetched is among them, nor what had arrived before the program started, and no arrival is
    /// skipped.
    func arrivals() -> AsyncStream<MessageArrival>
}

extension NotificationService {
    /// For backends in which nobody else writes.
    public func arrivals() -> AsyncStream<MessageArrival> { AsyncStream { $0.finish() } }
}
