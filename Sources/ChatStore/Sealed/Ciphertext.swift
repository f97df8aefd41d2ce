public import ChatCore

/// An encrypted event that could not be read, as it is kept until its key comes.
public struct Ciphertext: Equatable, Sendable {
    public var event: MessageID
    public var reason: SealReason
    /// The session whose key reads it; `nil` if none will.
    public var session: String?
    /// The event as JSON; `nil` if the server has to send it once more.
    public var data: String?

    public init(of event: MessageID, reason: SealReason, session: String? = nil, data: String? = nil) {
        self.event = event
        self.reason = reason
        self.session = session
        self.data = data
    }
}

/// The session of a room's messages, by which their key is found.
public struct SealedSession: Hashable, Sendable {
    public var room: RoomID
    public var session: String

    public init(room: RoomID, session: String) {
        self.room = room
        self.session = session
    }
}

/// What has become of an encrypted event that was read once more.
public struct ReadAgain: Equatable, Sendable {
    public var event: MessageID
    /// The event as a sync would bring it now; it may be sealed as before, for another reason.
    public var events: [TimelineEvent]

    public init(_ event: MessageID, as events: [TimelineEvent]) {
        self.event = event
        self.events = events
    }
}
