public import Composer
import Foundation

extension MentionTarget {
    /// The address that others know it by (Matrix specification, matrix.to navigation), of a room with the servers that
    /// know it; nil of whom only this computer knows.
    public var link: LinkTarget? {
        let identifier: String
        var servers: [String] = []
        switch self {
        case .member(let id) where id.hasPrefix("@"): identifier = id
        case .room(let id, let via) where id.hasPrefix("#") || id.hasPrefix("!"): (identifier, servers) = (id, via)
        default: return nil
        }
        // Identifiers of rooms have no server from version 12 of rooms on.
        guard identifier.contains(":") || identifier.hasPrefix("!"),
            let encoded = identifier.addingPercentEncoding(withAllowedCharacters: Self.unreserved)
        else { return nil }
        let query = servers.compactMap { $0.addingPercentEncoding(withAllowedCharacters: Self.unreserved) }
            .map { "via=" + $0 }.joined(separator: "&")
        return LinkTarget("https://matrix.to/#/" + encoded + (query.isEmpty ? "" : "?" + query))
    }

    private static let unreserved = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "@:!-._~"))
}
