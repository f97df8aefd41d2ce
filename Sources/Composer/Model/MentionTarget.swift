/// Whom or what a mention means, whatever its text says (HKW-36).
public enum MentionTarget: Hashable, Sendable, Codable {
    /// A member, by its identifier.
    case member(String)
    /// A room, by its identifier or alias, and servers that can be asked to let somebody in (`via`).
    case room(String, via: [String] = [])
    /// Everyone in the room.
    case everyone
    /// An entity that only the host knows.
    case custom(String)

    /// What ``everyone`` is called among the identifiers of entities.
    public static let everyoneID = "@room"

    /// The identifier in the host's world.
    public var id: String {
        switch self {
        case .member(let id), .room(let id, _), .custom(let id): id
        case .everyone: Self.everyoneID
        }
    }
}
