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

nonisolated extension TimelineRows {
    /// How to scroll to a destination, or `nil` if it is not loaded.
    func reveal(_ destination: TimelineDestination, in loaded: LoadedMessages) -> TimelineViewModel.Effect? {
        switch destination {
        case .message(let id): return loaded.position(of: id).flatMap(row).map { .reveal($0) }
        case .firstUnread: return index(of: .unreadLine) == nil ? nil : .reveal(.unreadLine)
        case .oldest: return loaded.start == nil ? .revealOldest : nil
        case .newest: return loaded.end == nil ? .revealNewest : nil
        case .date(let date):
            guard let oldest = loaded.messages.first, loaded.includesOldest || oldest.sentAt < date else { return nil }
            guard let first = loaded.messages.first(where: { $0.sentAt >= date }) else {
                return loaded.end == nil ? .revealNewest : nil
            }
            // Include the day divider if it directly precedes the message.
            let day = TimelineItem.ID.day(CalendarDay(of: first.sentAt))
            guard let row = row(at: first.position) else { return nil }
            return .reveal(index(of: day).map { $0 + 1 } == index(of: row) ? day : row)
        }
    }

    /// How to scroll to the position at which the user stopped reading.
    func revealOpening(at position: ScrollPosition?, in loaded: LoadedMessages) -> TimelineViewModel.Effect {
        if let position, loaded.message(position.message) != nil { return .restore(position) }
        return index(of: .unreadLine) == nil ? .revealNewest : .reveal(.unreadLine)
    }
}
