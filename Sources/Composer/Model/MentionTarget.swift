/// The entity that a mention refers to, independent of its text (HKW-36).
public enum MentionTarget: Hashable, Sendable, Codable {
    /// A room member, by user ID.
    case member(String)
    /// A room, by room ID or alias, and servers to join through (`via`).
    case room(String, via: [String] = [])
    /// Everyone in the room.
    case everyone
    /// An entity that only the host knows.
    case custom(String)

    /// The entity identifier of ``everyone``.
    public static let everyoneID = "@room"

    /// The host's identifier of the entity.
    public var id: String {
        switch self {
        case .member(let id), .room(let id, _), .custom(let id): id
        case .everyone: Self.everyoneID
        }
    }
}
