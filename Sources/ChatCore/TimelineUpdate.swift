/// A stretch of a room's timeline, oldest first, without gaps.
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

/// What a timeline tells its reader, in order.
public enum TimelineUpdate: Equatable, Sendable {
    /// The first update: the newest page, the members (those who left among them, see ``Member/hasLeft``) and the
    /// newest message read so far.
    case opened(TimelinePage, members: [Member], fullyReadMarker: MessageID?)
    /// Messages that are new or differ from what was told of them before, by id.
    case changed([Message])
    case removed([MessageID])
    /// All members.
    case members([Member])
    /// Those who are new or differ from what was told of them before.
    case membersChanged([Member])
    /// What is said from now on is encrypted.
    case encrypted
    /// Who is typing now, in the order they began; never the own member.
    case typing([MemberID])
    /// The room was left or is gone: nothing follows.
    case closed
}
