import ChatCore

/// How far the user has read: the scroll position, the unread line, and which messages are marked as read or announced.
nonisolated struct ReadingProgress: Sendable {
    /// `nil` at the newest message.
    private(set) var scrollPosition: ScrollPosition?
    /// The newest message read when the room was opened; the unread line follows it.
    private(set) var unreadLineAfter: MessageID?
    private var isAtNewest = false
    /// Whether the messages are visible to the user. False until the view says so, because read receipts are public.
    private var isAttended = false
    /// The position of the read marker; `nil` if it is older than everything loaded.
    private var readPosition: Int64?
    /// The newest position that arrivals have been announced up to.
    private var announcedPosition = Int64.min

    /// Sets the position at which the room was left, or removes one that cannot be shown.
    mutating func restore(_ position: ScrollPosition?) { scrollPosition = position }

    /// Starts over with a room's newest page.
    mutating func open(_ newest: TimelinePage, fullyReadMarker: MessageID?, ownUserID: MemberID?) {
        readPosition = newest.messages.first { $0.id == fullyReadMarker }?.position
        announcedPosition = newest.messages.last?.position ?? .min
        let hasUnread = hasUnread(in: newest, after: fullyReadMarker, ownUserID: ownUserID)
        unreadLineAfter = hasUnread ? fullyReadMarker : nil
    }

    /// Only what was unread on opening counts, not what arrives while the room is on screen.
    private func hasUnread(in page: TimelinePage, after fullyReadMarker: MessageID?, ownUserID: MemberID?) -> Bool {
        guard let fullyReadMarker else { return false }
        guard let readPosition else { return page.hasOlder }
        return page.messages.contains {
            $0.id != fullyReadMarker && $0.position > readPosition && $0.sender != ownUserID && $0.event == nil
        }
    }

    /// - Parameter position: `nil` for the newest message.
    /// - Returns: whether the position counts: the end of a detached range is not the newest message.
    mutating func scroll(to position: ScrollPosition?, in range: TimelineRange) -> Bool {
        guard range.isLoaded, position != nil || !range.isDetached else { return false }
        scrollPosition = position
        isAtNewest = position == nil
        return true
    }

    mutating func setAttended(_ isAttended: Bool) { self.isAttended = isAttended }

    /// Moves the read marker to the newest message in view: forward only, and never to a local echo.
    /// - Returns: the message to mark as read, or `nil` if the marker stays.
    mutating func moveReadMarker(in loaded: LoadedMessages, _ range: TimelineRange) -> MessageID? {
        guard isAttended, isAtNewest, range.isLoaded, !range.isDetached, !range.isBeingLeft,
            let newest = loaded.messages.last(where: { $0.delivery == .sent }),
            readPosition.map({ $0 < newest.position }) ?? true
        else { return nil }
        readPosition = newest.position
        return newest.id
    }

    /// Returns those of these messages that are newer than any before, each only once.
    mutating func arrivals(among messages: [Message]) -> [Message] {
        let new = messages.filter { $0.position > announcedPosition }
        announcedPosition = new.map(\.position).max() ?? announcedPosition
        return new
    }
}
