import Foundation

/// Someone or something named in a text, drawn as a pill.
public enum BodyMention: Hashable, Sendable {
    case member(String)
    /// An identifier or alias of a room.
    case room(String)
    /// Everyone in the room.
    case everyone
}

extension BodyMention {
    /// The address that others know it by (Matrix specification, matrix.to navigation); nil of whom only this computer
    /// knows.
    public var target: LinkTarget? {
        let identifier: String
        switch self {
        case .member(let id) where id.hasPrefix("@"), .room(let id) where id.hasPrefix("#") || id.hasPrefix("!"):
            identifier = id
        default: return nil
        }
        // Identifiers of rooms have no server from version 12 of rooms on.
        guard identifier.contains(":") || identifier.hasPrefix("!"),
            let encoded = identifier.addingPercentEncoding(withAllowedCharacters: Self.unreserved)
        else { return nil }
        return LinkTarget("https://matrix.to/#/" + encoded)
    }

    private static let unreserved = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "@:!-._~"))
}
