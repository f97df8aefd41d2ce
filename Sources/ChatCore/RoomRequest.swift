/// A room that is to be made.
public struct RoomRequest: Equatable, Sendable {
    /// As the user typed it.
    public var name: String
    /// What it is about; nil for nothing.
    public var topic: String?
    /// What anybody finds and enters it by, as `garden` of `#garden:example.org`; nil for a room that others have to be
    /// invited to.
    public var address: String?
    /// Who is invited at once.
    public var invitees: [MemberID]

    public init(name: String, topic: String? = nil, address: String? = nil, invitees: [MemberID] = []) {
        self.name = name
        self.topic = topic
        self.address = address
        self.invitees = invitees
    }

    /// Whether a text will do as an address' first part (specification, room aliases; without what would have to be
    /// written otherwise in links).
    public static func isValidAddress(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 100
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
    }
}

/// Somebody whom a search found.
public struct User: Identifiable, Hashable, Sendable {
    public let id: MemberID
    /// nil if only the identifier is known.
    public var name: String?
    /// Where the picture is, as a ``MediaReference/uri``.
    public var avatar: String?

    public init(id: MemberID, name: String? = nil, avatar: String? = nil) {
        self.id = id
        self.name = name
        self.avatar = avatar
    }

    public var title: String { name ?? id.rawValue }
}

/// Who is in a room, or asked into it, and what the user may do there.
public struct RoomMembers: Equatable, Sendable {
    public enum Role: Int, Comparable, Sendable {
        case member, moderator, administrator

        public static func < (a: Role, b: Role) -> Bool { a.rawValue < b.rawValue }
    }

    public struct Entry: Identifiable, Equatable, Sendable {
        public var member: Member
        public var role: Role
        /// Asked in, and not there yet.
        public var isInvited: Bool
        /// Whether the user may take the member out of the room, or back the invitation.
        public var canBeRemoved: Bool

        public var id: MemberID { member.id }

        public init(_ member: Member, role: Role = .member, isInvited: Bool = false, canBeRemoved: Bool = false) {
            self.member = member
            self.role = role
            self.isInvited = isInvited
            self.canBeRemoved = canBeRemoved
        }
    }

    /// What the user may do.
    public struct Permissions: OptionSet, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        public static let rename = Permissions(rawValue: 1 << 0)
        public static let setTopic = Permissions(rawValue: 1 << 1)
        public static let invite = Permissions(rawValue: 1 << 2)
        /// To mention everyone in the room.
        public static let notifyEveryone = Permissions(rawValue: 1 << 3)
    }

    /// Those with a say first, then by name; those who are asked in last.
    public var entries: [Entry]
    public var permissions: Permissions
    /// Under which others find the room; nil without one.
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

/// Rooms and people beyond those that are known. What a backend cannot do it does not say among its ``BackendCapabilities``,
/// and throws ``ChatError/notPermitted``.
public protocol RoomMembersService: Sendable {
    /// - Throws: ``ChatError/invalidName``, or what the server says.
    func createRoom(_ request: RoomRequest) async throws -> RoomID
    /// People whom the server knows by a name or a part of it, the best first; a few at most. Never the user.
    func users(matching text: String) async throws -> [User]
    /// Who is in the room by the server's word: all of them, as far as the user may see.
    func members(of room: RoomID) async throws -> RoomMembers
}

extension RoomMembersService {
    public func createRoom(_ request: RoomRequest) async throws -> RoomID { throw ChatError.notPermitted }
    public func users(matching text: String) async throws -> [User] { throw ChatError.notPermitted }
    public func members(of room: RoomID) async throws -> RoomMembers { throw ChatError.notPermitted }
}
