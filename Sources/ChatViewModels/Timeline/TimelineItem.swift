public import ChatCore
public import Foundation

/// A row of the timeline.
public nonisolated enum TimelineItem: Identifiable, Equatable, Sendable {
    case day(CalendarDay, Date, RelativeDay)
    /// What follows was not read before the room was opened.
    case unreadLine
    case message(MessageItem)
    /// What happened in the room besides.
    case events(EventGroup)
    /// Stands for what is past the loaded messages and on its way.
    case more(TimelineEdge)

    /// Stable over changes of content.
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

/// An end of what is loaded of a timeline.
public nonisolated enum TimelineEdge: Hashable, Sendable {
    case older, newer
}

/// A change of a timeline's rows. Of several, each counts rows as the one before it has left them.
public nonisolated enum TimelineChange: Equatable, Sendable {
    /// These rows are new, at these places.
    case insert(Range<Int>)
    /// The rows at these places are gone.
    case remove(Range<Int>)
    /// The rows at these places show something else.
    case update(Range<Int>)
}
