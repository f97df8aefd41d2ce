/// How a message of another user is counted.
public enum NotificationLevel: Int64, Sendable {
    /// Not counted.
    case none
    /// Counted as unread.
    case unread
    /// Counted as unread and as a mention.
    case mention
}
