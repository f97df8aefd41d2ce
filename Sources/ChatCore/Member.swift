/// Someone in a room.
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

    public init(id: MemberID, displayName: String, kind: Kind) {
        self.id = id
        self.displayName = displayName
        self.kind = kind
    }
}
