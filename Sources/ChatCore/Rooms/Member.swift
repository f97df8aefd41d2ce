/// A current or former member of a room.
public struct Member: Identifiable, Equatable, Sendable {
    public enum Kind: String, Sendable, Codable {
        /// The user of this application.
        case own
        /// The built-in guide.
        case guide
        case person
    }

    public let id: MemberID
    public var displayName: String
    public var kind: Kind
    /// Whether the member has left: still named on messages, but not listed as a member.
    public var hasLeft: Bool
    /// The member's avatar, as a ``MediaReference/uri``.
    public var avatar: String?

    public init(id: MemberID, displayName: String, kind: Kind, hasLeft: Bool = false, avatar: String? = nil) {
        self.id = id
        self.displayName = displayName
        self.kind = kind
        self.hasLeft = hasLeft
        self.avatar = avatar
    }
}
