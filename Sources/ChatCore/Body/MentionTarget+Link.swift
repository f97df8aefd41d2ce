public import Composer
import Foundation

extension MentionTarget {
    /// The public matrix.to link (Matrix specification, matrix.to navigation), with `via` servers for rooms; `nil` for
    /// local identifiers.
    public var link: LinkTarget? {
        let identifier: String
        var servers: [String] = []
        switch self {
        case .member(let id) where id.hasPrefix("@"): identifier = id
        case .room(let id, let via) where id.hasPrefix("#") || id.hasPrefix("!"): (identifier, servers) = (id, via)
        default: return nil
        }
        // Room IDs have no server name since room version 12.
        guard identifier.contains(":") || identifier.hasPrefix("!"),
            let encoded = identifier.addingPercentEncoding(withAllowedCharacters: Self.unreserved)
        else { return nil }
        let query = servers.compactMap { $0.addingPercentEncoding(withAllowedCharacters: Self.unreserved) }
            .map { "via=" + $0 }.joined(separator: "&")
        return LinkTarget("https://matrix.to/#/" + encoded + (query.isEmpty ? "" : "?" + query))
    }

    private static let unreserved = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "@:!-._~"))
}
