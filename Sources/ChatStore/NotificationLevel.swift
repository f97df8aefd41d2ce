/// Whether a message of another's is counted for the user.
public enum NotificationLevel: Int64, Sendable {
    /// It is there to be read, and that is all.
    case none
    /// It is counted as unread.
    case unread
    /// It is counted as meant for the user, too.
    case mention
}
