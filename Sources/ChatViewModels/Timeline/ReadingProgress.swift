import ChatCore

/// How far the user has read: the scroll position, the unread line, and which messages are marked as read or announced.
///
/// A message counts as read once it was visible in the active window for ``dwell``, as read receipts are public, or once
/// the user has sent one after it.
nonisolated struct ReadingProgress: Sendable {
    /// The time for which a message must be visible to count as read.
    static let dwell = Duration.seconds(1)

    /// The lowest message whose end is in view.
    private enum Lowest: Equatable {
        case newest
        case message(MessageID)
    }

    /// `nil` at the newest message.
    private(set) var scrollPosition: ScrollPosition?
    /// The newest message that was read when the room was opened, or when messages arrived unattended; the unread line
    /// follows it.
    private(set) var unreadLineAfter: MessageID?
    /// `nil` until the view has reported it, and while the viewport shows only part of a single message.
    private var lowest: Lowest?
    private var isAttended = false
    private var readMarker: MessageID?
    private var ownUserID: MemberID?
    /// The position of the read marker; `nil` if it is older than everything loaded.
    private var readPosition: Int64?
    /// Whether any message was seen since the room was opened.
    private(set) var isSeen = false
    /// The unread message that counts as read at `due`; the first time, any message.
    private var seen: (message: MessageID, due: Duration)?
    /// The newest position that arrivals have been announced up to.
    private var announcedPosition = Int64.min

    /// Whether messages arrive at the visible end of the list while the user is not looking.
    var arrivesUnseen: Bool { !isAttended && lowest == .newest }

    /// Sets the position at which the room was left, or removes one that cannot be shown.
    mutating func restore(_ position: ScrollPosition?) { scrollPosition = position }

    /// Starts over with a room's newest page.
    mutating func open(_ newest: TimelinePage, fullyReadMarker: MessageID?, ownUserID: MemberID?) {
        seen = nil
        self.ownUserID = ownUserID
        readMarker = fullyReadMarker
        readPosition = newest.messages.first { $0.id == fullyReadMarker }?.position
        announcedPosition = newest.messages.last?.position ?? .min
        let hasUnread = hasUnread(in: newest, after: fullyReadMarker, ownUserID: ownUserID)
        unreadLineAfter = hasUnread ? fullyReadMarker : nil
    }

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
        let newLowest: Lowest? =
            if let position { position.offset <= 0 ? .message(position.message) : nil } else { .newest }
        if newLowest != lowest { seen = nil }
        lowest = newLowest
        return true
    }

    mutating func setAttended(_ isAttended: Bool) {
        if isAttended != self.isAttended { seen = nil }
        self.isAttended = isAttended
    }

    /// Moves the unread line below the read messages, after messages arrived unattended.
    /// - Returns: whether it has moved.
    mutating func moveUnreadLine() -> Bool {
        guard !isAttended, let readMarker, readMarker != unreadLineAfter else { return false }
        unreadLineAfter = readMarker
        return true
    }

    // MARK: The read marker

    /// Notes which unread messages are visible.
    ///
    /// New messages do not postpone those that are already visible: in a busy room, nothing would be read.
    /// - Returns: when to call ``moveReadMarker(in:_:at:)``, or `nil` if no visible message is unread.
    mutating func look(at loaded: LoadedMessages, _ range: TimelineRange, at now: Duration) -> Duration? {
        guard let message = lowestToRead(in: loaded, range) else {
            seen = nil
            return nil
        }
        // A change of the user's name is an event in each room, and answers nothing.
        if message.sender == ownUserID, message.event == nil, message.position > positionOfReadMarker(in: loaded) {
            seen = (message.id, now)
        } else if seen.flatMap({ loaded.position(of: $0.message) }) == nil {
            seen = (message.id, now + Self.dwell)
        }
        return seen?.due
    }

    /// Moves the read marker to the last message that was visible long enough: only forward, and never to a local echo.
    /// - Returns: the message to mark as read, or `nil` if the marker stays.
    mutating func moveReadMarker(in loaded: LoadedMessages, _ range: TimelineRange, at now: Duration) -> MessageID? {
        guard let seen, seen.due <= now, lowestToRead(in: loaded, range) != nil else { return nil }
        self.seen = nil
        isSeen = true
        guard let position = loaded.position(of: seen.message), readPosition.map({ $0 < position }) ?? true else {
            return nil
        }
        (readMarker, readPosition) = (seen.message, position)
        return seen.message
    }

    /// The lowest visible message that can be marked as read, or `nil` if everything down to it was seen.
    private func lowestToRead(in loaded: LoadedMessages, _ range: TimelineRange) -> Message? {
        guard isAttended, range.isLoaded, !range.isBeingLeft, let lowest else { return nil }
        let end: Int64
        switch lowest {
        case .newest where range.isDetached: return nil
        case .newest: end = .max
        case .message(let id):
            // After a jump, this would also mark messages that were skipped.
            guard !range.isDetached || readMarker.flatMap(loaded.position) != nil,
                let position = loaded.position(of: id)
            else { return nil }
            end = position
        }
        guard let message = loaded.messages.last(where: { $0.position <= end && $0.delivery == .sent }) else {
            return nil
        }
        return !isSeen || message.position > positionOfReadMarker(in: loaded) ? message : nil
    }

    private func positionOfReadMarker(in loaded: LoadedMessages) -> Int64 {
        readPosition ?? readMarker.flatMap(loaded.position) ?? .min
    }

    // MARK: Arrivals

    /// Returns those of these messages that are newer than any before, each only once.
    mutating func arrivals(among messages: [Message]) -> [Message] {
        let new = messages.filter { $0.position > announcedPosition }
        announcedPosition = new.map(\.position).max() ?? announcedPosition
        return new
    }
}
