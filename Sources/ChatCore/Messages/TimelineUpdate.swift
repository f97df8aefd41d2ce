/// A contiguous part of a room's timeline, oldest first.
public struct TimelinePage: Equatable, Sendable {
    public var messages: [Message]
    /// Whether older messages exist before the first one.
    public var hasOlder: Bool
    /// Whether newer messages exist after the last one.
    public var hasNewer: Bool

    public init(messages: [Message], hasOlder: Bool, hasNewer: Bool = false) {
        self.messages = messages
        self.hasOlder = hasOlder
        self.hasNewer = hasNewer
    }
}

/// An update of a timeline, to be applied in order.
public enum TimelineUpdate: Equatable, Sendable {
    /// The first update: the newest page, all members including former ones (see ``Member/hasLeft``), and the
    /// fully-read marker.
    case opened(TimelinePage, members: [Member], fullyReadMarker: MessageID?)
    /// New and changed messages, by identifier.
    case changed([Message])
    case removed([MessageID])
    /// The complete member list.
    case members([Member])
    /// New and changed members.
    case membersChanged([Member])
    /// Encryption was enabled.
    case encrypted
    /// The members who are typing, in the order they started; never the user.
    case typing([MemberID])
    /// The room was left or no longer exists: no further updates follow.
    case closed
}
