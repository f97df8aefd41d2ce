public import ChatCore
public import Foundation

/// A row of the timeline.
public nonisolated enum TimelineItem: Identifiable, Equatable, Sendable {
    case day(CalendarDay, Date, RelativeDay)
    /// Separates messages that were unread when the room was opened, or that arrived unattended.
    case unreadLine
    case message(MessageItem)
    /// Room events such as membership changes.
    case events(EventGroup)
    /// A placeholder for messages that are not loaded yet.
    case more(TimelineEdge)

    /// The identity of a row, stable across content changes.
    public nonisolated enum ID: Hashable, Sendable {
        case day(CalendarDay)
        case unreadLine
        case message(MessageID)
        case events(MessageID)
        case more(TimelineEdge)
    }

    public var id: ID {
        switch self {
        case .day(let day, _, _): .day(day)
        case .unreadLine: .unreadLine
        case .message(let message): .message(message.id)
        case .events(let group): .events(group.id)
        case .more(let edge): .more(edge)
        }
    }

    public var events: EventGroup? {
        if case .events(let group) = self { group } else { nil }
    }

    public var message: MessageItem? {
        if case .message(let message) = self { message } else { nil }
    }
}

/// An end of the loaded range.
public nonisolated enum TimelineEdge: Hashable, Sendable {
    case older, newer
}

/// A change to the rows. Its indices are relative to the rows after the preceding changes.
public nonisolated enum TimelineChange: Equatable, Sendable {
    /// Rows were inserted and now have these indices.
    case insert(Range<Int>)
    /// The rows at these indices were removed.
    case remove(Range<Int>)
    /// The rows at these indices have new content.
    case update(Range<Int>)
}
