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
        case avatarChanged = "pictured"
        /// The room is called ``RoomEvent/after``; nil for no longer anything.
        case roomNamed
        /// The room is about ``RoomEvent/after``; nil for no longer anything.
        case topicSet
        case roomAvatarChanged = "roomPictured"
        /// What is said from then on is encrypted.
        case encrypted
        /// The conversation goes on in the room that ``RoomEvent/before`` leads to; ``RoomEvent/after`` is what was said of
        /// that.
        case replaced
        /// The conversation comes from the room that ``RoomEvent/before`` leads to.
        case continued
        /// What the subject may do: ``RoomEvent/after`` is an administrator's, a moderator's or a member's ``Role``.
        case roleSet
        /// Who may do what, of several or otherwise.
        case permissionsSet
        /// Who may join, see guests in, or read what was said: ``RoomEvent/after`` is the specification's word for it.
        case joinRuleSet, guestAccessSet, historyVisibilitySet
        /// Others find the room under ``RoomEvent/after``; nil for no longer under anything.
        case addressSet
        /// It is found under other names besides.
        case addressesSet
        case pinned, unpinned
        /// Somebody, whom ``RoomEvent/after`` names, is asked in by another way than an identifier; or not any more.
        case invitedElsewhere, uninvitedElsewhere
        /// Somebody wanted to talk.
        case called
    }

    /// What ``Kind/roleSet`` makes somebody.
    public enum Role: String, Sendable {
        case administrator, moderator, member
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

    /// A link to the room that it leads to, from which it comes; nil for none.
    public var address: String? { kind == .replaced || kind == .continued ? before : nil }

    /// Whether it tells who is in the room.
    public var isMembership: Bool {
        switch kind {
        case .joined, .invited, .knocked, .left, .declined, .removed, .banned, .unbanned, .uninvited: true
        case .renamed, .avatarChanged, .roomNamed, .topicSet, .roomAvatarChanged, .encrypted, .replaced, .continued,
            .roleSet,
            .permissionsSet, .joinRuleSet, .guestAccessSet, .historyVisibilitySet, .addressSet, .addressesSet, .pinned,
            .unpinned, .invitedElsewhere, .uninvitedElsewhere, .called:
            false
        }
    }
}
