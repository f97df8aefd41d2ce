/// Someone in a room, or someone who was and whose messages are still there.
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
    /// Whether the member is no longer in the room: named beside old messages, but not among those who are there.
    public var hasLeft: Bool
    /// Where the member's picture is, as a ``MediaReference/uri``; nil without one.
    public var avatar: String?

    public init(id: MemberID, displayName: String, kind: Kind, hasLeft: Bool = false, avatar: String? = nil) {
        self.id = id
        self.displayName = displayName
        self.kind = kind
        self.hasLeft = hasLeft
        self.avatar = avatar
    }
}
