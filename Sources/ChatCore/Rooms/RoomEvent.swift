/// A state change in a room's timeline. Never unread, and excluded from search.
public struct RoomEvent: Hashable, Sendable, Codable {
    public enum Kind: String, CaseIterable, Sendable, Codable {
        /// The subject joined, was invited, or knocked.
        case joined, invited, knocked
        /// The subject left, rejected an invitation, was kicked, or was banned.
        case left, declined, removed, banned
        /// The ban or the invitation of the subject was revoked.
        case unbanned, uninvited
        /// The subject changed the display name from ``RoomEvent/before`` to ``RoomEvent/after``.
        case renamed
        /// The subject changed the avatar.
        case avatarChanged = "pictured"
        /// The room's name is ``RoomEvent/after``; `nil` if it was removed.
        case roomNamed
        /// The room's topic is ``RoomEvent/after``; `nil` if it was removed.
        case topicSet
        case roomAvatarChanged = "roomPictured"
        /// Encryption was enabled.
        case encrypted
        /// The room was upgraded to the one that ``RoomEvent/before`` links to; ``RoomEvent/after`` is the tombstone's
        /// body.
        case replaced
        /// The room replaces the one that ``RoomEvent/before`` links to.
        case continued
        /// The subject's ``Role`` is ``RoomEvent/after``.
        case roleSet
        /// Power levels changed in any other way.
        case permissionsSet
        /// The join rule, guest access or history visibility changed; ``RoomEvent/after`` is the Matrix value.
        case joinRuleSet, guestAccessSet, historyVisibilitySet
        /// The canonical alias is ``RoomEvent/after``; `nil` if it was removed.
        case addressSet
        /// The alternative aliases changed.
        case addressesSet
        case pinned, unpinned
        /// A third-party invitation of ``RoomEvent/after`` was sent or revoked.
        case invitedElsewhere, uninvitedElsewhere
        /// Someone started a call.
        case called
        /// Someone asked the subject to verify each other.
        case verificationRequested
    }

    /// A role by power level.
    public enum Role: String, Sendable {
        case administrator, moderator, member
    }

    public var kind: Kind
    /// The affected member, or `nil` for the room.
    public var subject: MemberID?
    /// The subject's display name at the time, if known.
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

    /// A link to the replacement or predecessor room, if any.
    public var address: String? { kind == .replaced || kind == .continued ? before : nil }

    public var isMembership: Bool {
        switch kind {
        case .joined, .invited, .knocked, .left, .declined, .removed, .banned, .unbanned, .uninvited: true
        case .renamed, .avatarChanged, .roomNamed, .topicSet, .roomAvatarChanged, .encrypted, .replaced, .continued,
            .roleSet,
            .permissionsSet, .joinRuleSet, .guestAccessSet, .historyVisibilitySet, .addressSet, .addressesSet, .pinned,
            .unpinned, .invitedElsewhere, .uninvitedElsewhere, .called, .verificationRequested:
            false
        }
    }
}
