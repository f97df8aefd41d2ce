public import ChatCore
public import Foundation

/// A row of the timeline.
public nonisolated enum TimelineItem: Identifiable, Equatable, Sendable {
    case day(CalendarDay, Date, RelativeDay)
    /// What follows was not read before the room was opened.
    case unreadLine
    case message(MessageItem)

    /// Stable over changes of content.
    public nonisolated enum ID: Hashable, Sendable {
        case day(CalendarDay)
        case unreadLine
        case message(MessageID)
    }

    public var id: ID {
        switch self {
        case .day(let day, _, _): .day(day)
        case .unreadLine: .unreadLine
        case .message(let message): .message(message.id)
        }
    }

    public var message: MessageItem? {
        if case .message(let message) = self { message } else { nil }
    }
}

/// A message with all that its row shows.
public nonisolated struct MessageItem: Identifiable, Equatable, Sendable {
    public let id: MessageID
    public var text: String
    public var senderID: MemberID
    public var senderName: String
    public var sentAt: Date
    public var isOwn: Bool
    public var isEdited: Bool
    public var isDeleted: Bool
    public var delivery: Message.Delivery
    /// The first of a run of messages of one sender: shows the sender.
    public var startsGroup: Bool
    /// The last of such a run: shows the time.
    public var endsGroup: Bool
    /// Whether the composer is editing this message now.
    public var isBeingEdited: Bool

    public var canEdit: Bool { isOwn && !isDeleted && delivery == .sent }
    public var canDelete: Bool { isOwn && !isDeleted }
    public var canCopy: Bool { !isDeleted }
    /// Whether the room's name or a neighbour already tells who speaks.
    public var showsSender: Bool { startsGroup && !isOwn }
}

/// Lays messages out as timeline items: days, unread line, runs of one sender.
nonisolated struct TimelineLayout {
    /// A pause after which a sender's next message begins a new group.
    static let groupPause: TimeInterval = 5 * 60

    var members: [MemberID: Member]
    var ownID: MemberID?
    /// The newest message read when the room was opened; the unread line follows it.
    var unreadLineAfter: MessageID?
    var editing: MessageID?
    var now: Date

    /// - Parameter messages: in order of position.
    func items(for messages: [Message]) -> [TimelineItem] {
        var items: [TimelineItem] = []
        items.reserveCapacity(messages.count + 8)
        var previous: Message?
        var drawsUnreadLine = false
        for (index, message) in messages.enumerated() {
            let day = CalendarDay(of: message.sentAt)
            let isNewDay = previous.map { CalendarDay(of: $0.sentAt) != day } ?? true
            if isNewDay { items.append(.day(day, message.sentAt, RelativeDay(message.sentAt, now: now))) }
            if drawsUnreadLine, !isOwn(message) {
                items.append(.unreadLine)
                drawsUnreadLine = false
                previous = nil
            }
            if message.id == unreadLineAfter { drawsUnreadLine = true }
            let next = index + 1 < messages.count ? messages[index + 1] : nil
            let startsGroup = isNewDay || previous.map { !continues($0, message) } ?? true
            let endsGroup = next.map { !continues(message, $0) } ?? true
            items.append(.message(item(message, startsGroup: startsGroup, endsGroup: endsGroup)))
            previous = message
        }
        return items
    }

    private func isOwn(_ message: Message) -> Bool { message.sender == ownID }

    private func continues(_ first: Message, _ second: Message) -> Bool {
        first.sender == second.sender && second.sentAt.timeIntervalSince(first.sentAt) < Self.groupPause
            && CalendarDay(of: first.sentAt) == CalendarDay(of: second.sentAt)
    }

    private func item(_ message: Message, startsGroup: Bool, endsGroup: Bool) -> MessageItem {
        MessageItem(
            id: message.id, text: message.text, senderID: message.sender,
            senderName: members[message.sender]?.displayName ?? message.sender.rawValue, sentAt: message.sentAt,
            isOwn: isOwn(message), isEdited: message.editedAt != nil && !message.isDeleted,
            isDeleted: message.isDeleted, delivery: message.delivery, startsGroup: startsGroup,
            endsGroup: endsGroup, isBeingEdited: message.id == editing)
    }
}
