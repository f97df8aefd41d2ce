/// Something that happened in a room besides what was said there. It is never unread, and no search finds it.
public struct RoomEvent: Hashable, Sendable, Codable {
    public enum Kind: String, CaseIterable, Sendable, Codable {
        /// The subject is in the room from then on, or asked for that.
        case joined, invited, knocked
        /// The subject is not in it any more, or not to come.
        case left, declined, removed, banned
        /// What kept the subject out, or was to bring it in, was taken back.
        case unbanned, uninvited
        /// The subject is called ``RoomEvent/after`` instead of ``RoomEvent/before``.
        case renamed
        /// The subject has another picture.
        case pictured
        /// The room is called ``RoomEvent/after``; nil for no longer anything.
        case roomNamed
        /// The room is about ``RoomEvent/after``; nil for no longer anything.
        case topicSet
        case roomPictured
        /// What is said from then on is encrypted.
        case encrypted
        /// The conversation goes on in another room.
        case replaced
    }

    public var kind: Kind
    /// Whom it concerns; nil for the room.
    public var subject: MemberID?
    /// What the subject was called then, as far as it was told.
    public var name: String?
    public var before: String?
    public var after: String?

    public init(
        _ kind: Kind, subject: MemberID? = nil, name: String? = nil, before: String? = nil, after: String? = nil
    ) {
        self.kind = kind
        self.subject = subject
        self.name = name
        self.before = before
        self.after = after
    }

    /// Whether it tells who is in the room.
    public var isMembership: Bool {
        switch kind {
        case .joined, .invited, .knocked, .left, .declined, .removed, .banned, .unbanned, .uninvited: true
        case .renamed, .pictured, .roomNamed, .topicSet, .roomPictured, .encrypted, .replaced: false
        }
    }
}
