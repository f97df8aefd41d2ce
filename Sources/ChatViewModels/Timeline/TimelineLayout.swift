import ChatCore
import Composer
import Foundation

/// Decides where the timeline shows day dividers, the unread line and the start of a message group.
nonisolated struct TimelineLayout {
    /// A pause after which a sender's next message begins a new group.
    static let groupPause: TimeInterval = 5 * 60

    /// State carried from one message to the next.
    struct Context: Equatable, Sendable {
        enum UnreadLine { case notYet, due, drawn }

        /// Never moves back: a sender's wrong clock must not repeat a day divider.
        var latestDay: CalendarDay?
        var unreadLine = UnreadLine.notYet
    }

    /// The layout of a message relative to the previous one.
    struct Step {
        var day: CalendarDay
        var startsDay: Bool
        var drawsUnreadLine: Bool
        var startsGroup: Bool
        var after: Context
    }

    var members: TimelineMembers
    /// The newest message read when the room was last opened or attended. The unread line is below it.
    var unreadLineAfter: MessageID?
    var editing: MessageID?
    var now: Date
    var bodies = MessageBodies()
    var capabilities: BackendCapabilities = []
    var selectedMessages = SelectedMessages()
    /// Events whose groups are shown in full.
    var expanded: Set<MessageID> = []
    /// Whether sending is blocked until the user signs in again.
    var isSignedOut = false
    /// Whether messages can be sent to the room.
    var acceptsMessages = true

    private var ownUserID: MemberID? { members.ownUserID }

    func step(from previous: Message?, to message: Message, in context: Context) -> Step {
        let day = CalendarDay(of: message.sentAt)
        var after = context
        // A date in the future is that of a wrong clock, and would end the dividers.
        let startsDay = context.latestDay.map { $0 < day } ?? true && day <= CalendarDay(of: now)
        if startsDay { after.latestDay = day }
        let drawsUnreadLine = context.unreadLine == .due && !isOwn(message) && message.event == nil
        if drawsUnreadLine { after.unreadLine = .drawn }
        if message.id == unreadLineAfter { after.unreadLine = .due }
        let continues = previous.map { self.continues($0, message) } ?? false
        return Step(
            day: day, startsDay: startsDay, drawsUnreadLine: drawsUnreadLine,
            startsGroup: !continues || drawsUnreadLine, after: after)
    }

    /// - Parameter quote: the message being replied to.
    func item(_ message: Message, startsGroup: Bool, endsGroup: Bool, quote: MessageItem.Quote?) -> MessageItem {
        var item = MessageItem(
            message: message, body: bodies.body(of: message), senderName: name(of: message.sender),
            senderAvatar: members[message.sender]?.avatar, isOwn: isOwn(message),
            quote: message.hasContent ? quote : nil, reactions: message.reactions.map(reaction),
            readers: readers(of: message), supportsReactions: capabilities.contains(.reactions),
            hasLink: capabilities.contains(.links), startsGroup: startsGroup, endsGroup: endsGroup,
            isBeingEdited: message.id == editing, isSelected: selectedMessages.contains(message.id))
        item.hasHistory = item.isEdited && capabilities.contains(.editHistory)
        item.waitsForSignIn = isSignedOut && item.isOnItsWay
        item.acceptsMessages = acceptsMessages
        return item
    }

    /// The preview of a message in replies to it.
    func quotedText(_ message: Message) -> WrittenText {
        PlainPreview.quote(bodies.body(of: message), attachments: message.attachments)
    }

    private func readers(of message: Message) -> [MessageItem.Reader] {
        message.readReceipts.map {
            .init(id: $0.member, name: name(of: $0.member), readAt: $0.readAt, avatar: members[$0.member]?.avatar)
        }
    }

    func events(_ messages: ArraySlice<Message>) -> EventGroup {
        var group = EventGroup(
            lines: messages.compactMap { message in
                message.event.map { event in
                    EventGroup.Line(
                        id: message.id, event: event, actor: participant(message.sender),
                        subject: participant(event.subject ?? message.sender, event.name), sentAt: message.sentAt)
                }
            }, isExpanded: messages.contains { expanded.contains($0.id) })
        group.readers = messages.flatMap(readers).sorted { $0.readAt > $1.readAt }
        return group
    }

    /// - Parameter name: the display name at the time of the event.
    private func participant(_ id: MemberID, _ name: String? = nil) -> EventGroup.Participant {
        id == ownUserID ? .currentUser : .named(members[id]?.displayName ?? name ?? id.rawValue)
    }

    private func reaction(_ reaction: Reaction) -> MessageItem.Reaction {
        MessageItem.Reaction(
            text: reaction.text, others: reaction.senders.filter { $0 != ownUserID }.map(name(of:)),
            isOwn: ownUserID.map { reaction.senders.contains($0) } ?? false)
    }

    func name(of member: MemberID) -> String { members.name(of: member) }

    func isOwn(_ message: Message) -> Bool { message.sender == ownUserID }

    private func continues(_ first: Message, _ second: Message) -> Bool {
        first.event == nil && second.event == nil && first.sender == second.sender
            && abs(second.sentAt.timeIntervalSince(first.sentAt)) < Self.groupPause
            && CalendarDay(of: first.sentAt) == CalendarDay(of: second.sentAt)
    }
}
