public import ChatCore

/// An encrypted event that could not be read, stored until its key arrives.
public struct Ciphertext: Equatable, Sendable {
    public var event: MessageID
    public var reason: SealReason
    /// The session whose key decrypts it; `nil` if no key can.
    public var session: String?
    /// The event as JSON; `nil` if it has to be requested again.
    public var data: String?
    /// The message that the event edits; `nil` if it is no edit.
    public var edits: MessageID?

    public init(
        of event: MessageID, reason: SealReason, session: String? = nil, data: String? = nil, edits: MessageID? = nil
    ) {
        self.event = event
        self.reason = reason
        self.session = session
        self.data = data
        self.edits = edits
    }
}

/// A room's session, which identifies a room key.
public struct SealedSession: Hashable, Sendable {
    public var room: RoomID
    public var session: String

    public init(room: RoomID, session: String) {
        self.room = room
        self.session = session
    }

    /// Compares bytes, as ``ChatCore/Identifier`` does: a member can send an event whose session ID is canonically
    /// equivalent to another one. Equal bytes have equal hashes.
    public static func == (one: Self, other: Self) -> Bool {
        one.room == other.room && one.session.utf8.elementsEqual(other.session.utf8)
    }
}

/// The result of reading an encrypted event again.
public struct ReadAgain: Equatable, Sendable {
    public var event: MessageID
    /// The event as a sync would deliver it now. It may be sealed again, for another reason.
    public var events: [TimelineEvent]

    public init(_ event: MessageID, as events: [TimelineEvent]) {
        self.event = event
        self.events = events
    }
}
