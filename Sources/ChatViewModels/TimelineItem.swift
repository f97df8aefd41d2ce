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

    /// The most of a text that a row shows: laying out a megabyte would stop the window for seconds.
    public static let shownCharacters = 8_000
    public static let shownLines = 200

    /// The beginning of the text, as much as a row shows.
    public var shownText: Substring {
        var end = text.index(text.startIndex, offsetBy: Self.shownCharacters, limitedBy: text.endIndex) ?? text.endIndex
        var lines = 1
        for index in text[..<end].indices where text[index].isNewline {
            lines += 1
            if lines > Self.shownLines {
                end = index
                break
            }
        }
        return text[..<end]
    }

    /// Whether ``shownText`` is not all of it.
    public var isShortened: Bool { shownText.endIndex < text.endIndex }

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
        var previous: (message: Message, day: CalendarDay, place: Int)?
        var latestDay: CalendarDay?
        var drawsUnreadLine = false
        for message in messages {
            let day = CalendarDay(of: message.sentAt)
            var startsGroup = previous.map { $0.day != day || !continues($0.message, message) } ?? true
            // Forward only: where a clock was wrong no day comes twice.
            if latestDay.map({ $0 < day }) ?? true {
                items.append(.day(day, message.sentAt, RelativeDay(message.sentAt, now: now)))
                latestDay = day
            }
            if drawsUnreadLine, !isOwn(message) {
                items.append(.unreadLine)
                drawsUnreadLine = false
                startsGroup = true
            }
            if message.id == unreadLineAfter { drawsUnreadLine = true }
            if startsGroup, let previous { items[previous.place].endGroup() }
            previous = (message, day, items.count)
            items.append(.message(item(message, startsGroup: startsGroup)))
        }
        if let previous { items[previous.place].endGroup() }
        return items
    }

    private func isOwn(_ message: Message) -> Bool { message.sender == ownID }

    private func continues(_ first: Message, _ second: Message) -> Bool {
        first.sender == second.sender && abs(second.sentAt.timeIntervalSince(first.sentAt)) < Self.groupPause
    }

    private func item(_ message: Message, startsGroup: Bool) -> MessageItem {
        MessageItem(
            id: message.id, text: message.text, senderID: message.sender,
            senderName: members[message.sender]?.displayName ?? message.sender.rawValue, sentAt: message.sentAt,
            isOwn: isOwn(message), isEdited: message.editedAt != nil && !message.isDeleted,
            isDeleted: message.isDeleted, delivery: message.delivery, startsGroup: startsGroup,
            endsGroup: false, isBeingEdited: message.id == editing)
    }
}

nonisolated extension TimelineItem {
    fileprivate mutating func endGroup() {
        guard case .message(var message) = self else { return }
        message.endsGroup = true
        self = .message(message)
    }
}
