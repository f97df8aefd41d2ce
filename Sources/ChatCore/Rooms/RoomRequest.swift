/// The parameters of a new room.
public struct RoomRequest: Equatable, Sendable {
    /// The name as typed.
    public var name: String
    /// The topic, if any.
    public var topic: String?
    /// The localpart of the alias under which anyone can join, such as `garden` in `#garden:example.org`; `nil` for an
    /// invite-only room.
    public var address: String?
    /// The users to invite at once.
    public var invitees: [MemberID]
    /// Whether the room is end-to-end encrypted from its first event on, permanently.
    public var isEncrypted: Bool

    /// - Parameter isEncrypted: `nil` for the default: encrypted unless anyone can join.
    public init(
        name: String, topic: String? = nil, address: String? = nil, invitees: [MemberID] = [],
        isEncrypted: Bool? = nil
    ) {
        self.isEncrypted = isEncrypted ?? (address == nil)
        self.name = name
        self.topic = topic
        self.address = address
        self.invitees = invitees
    }

    /// Whether a text is a valid localpart of a room alias. Stricter than the specification: excludes characters that
    /// need escaping in links.
    public static func isValidAddress(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 100
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
    }
}

/// A user from the user directory.
public struct User: Identifiable, Hashable, Sendable {
    public let id: MemberID
    /// The display name, if known.
    public var name: String?
    /// The avatar, as a ``MediaReference/uri``.
    public var avatar: String?

    public init(id: MemberID, name: String? = nil, avatar: String? = nil) {
        self.id = id
        self.name = name
        self.avatar = avatar
    }

    public var title: String { name ?? id.rawValue }
}

/// The joined and invited members of a room, and the user's permissions there.
public struct RoomMembers: Equatable, Sendable {
    public enum Role: Int, Comparable, Sendable {
        case member, moderator, administrator

        public static func < (a: Role, b: Role) -> Bool { a.rawValue < b.rawValue }
    }

    public struct Entry: Identifiable, Equatable, Sendable {
        public var member: Member
        public var role: Role
        /// Whether the member is invited and has not joined.
        public var isInvited: Bool
        /// Whether the user may remove the member, or revoke the invitation.
        public var canBeRemoved: Bool

        public var id: MemberID { member.id }

        public init(_ member: Member, role: Role = .member, isInvited: Bool = false, canBeRemoved: Bool = false) {
            self.member = member
            self.role = role
            self.isInvited = isInvited
            self.canBeRemoved = canBeRemoved
        }
    }

    /// The user's permissions.
    public struct Permissions: OptionSet, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        public static let rename = Permissions(rawValue: 1 << 0)
        public static let setTopic = Permissions(rawValue: 1 << 1)
        public static let invite = Permissions(rawValue: 1 << 2)
        /// Permission for `@room` mentions.
        public static let notifyEveryone = Permissions(rawValue: 1 << 3)
        /// Permission to turn on encryption.
        public static let encrypt = Permissions(rawValue: 1 << 4)
    }

    /// Joined members by descending role and then by name; invited ones last.
    public var entries: [Entry]
    public var permissions: Permissions
    /// The room's canonical alias, if any.
    public var address: String?

    public init(entries: [Entry], permissions: Permissions, address: String? = nil) {
        self.entries = entries.sorted(by: Self.isBefore)
        self.permissions = permissions
        self.address = address
    }

    private static func isBefore(_ a: Entry, _ b: Entry) -> Bool {
        if a.isInvited != b.isInvited { return b.isInvited }
        if a.role != b.role { return a.role > b.role }
        let (first, second) = (a.member.displayName.lowercased(), b.member.displayName.lowercased())
        return (first, a.id.rawValue) < (second, b.id.rawValue)
    }
}

/// Room creation, the user directory and member lists. Methods whose feature is not in ``BackendCapabilities`` throw
/// ``ChatError/notPermitted``.
public protocol RoomMembersService: Sendable {
    /// Creates a room.
    /// - Throws: ``ChatError/invalidName``, ``ChatError/topicTooLong(limit:)``, ``ChatError/invalidAddress``,
    ///   ``ChatError/encryptionUnavailable``, or the server's error.
    func createRoom(_ request: RoomRequest) async throws -> RoomID
    /// Searches the user directory by name. Returns a few users, best match first, without the user.
    func users(matching text: String) async throws -> [User]
    /// Returns the server's member list, or the part of it that the user may see.
    func members(of room: RoomID) async throws -> RoomMembers
}

extension RoomMembersService {
    public func createRoom(_ request: RoomRequest) async throws -> RoomID { throw ChatError.notPermitted }
    public func users(matching text: String) async throws -> [User] { throw ChatError.notPermitted }
    public func members(of room: RoomID) async throws -> RoomMembers { throw ChatError.notPermitted }
}
