public import ChatCore
public import Foundation

/// A jump target.
public nonisolated enum TimelineDestination: Equatable, Sendable {
    case message(MessageID)
    /// The first message sent at or after this time.
    case date(Date)
    /// The unread line.
    case firstUnread
    /// The room's first message.
    case oldest
    case newest
}

/// A jump, and what follows once its destination is loaded.
nonisolated struct TimelineJump: Equatable, Sendable {
    var destination: TimelineDestination
    /// Whether to scroll to the destination.
    var isRevealing = true
    /// Whether to edit the user's newest message afterwards.
    var editsLast = false
}
