import Foundation

/// Somebody, a room, or a message in one, by an identifier or a link: `@name:server`, `#name:server`, `!room`, `matrix:…`
/// (RFC-like URIs of the Matrix specification) or `https://matrix.to/#/…`.
public enum ChatAddress: Equatable, Sendable {
    case user(String)
    /// - Parameter via: servers that know of the room.
    case room(String, via: [String])
    /// - Parameter room: as in ``room(_:via:)``.
    case message(MessageID, room: String, via: [String])

    /// The room that it leads to, and servers that know of it; nil of somebody.
    public var room: (address: String, via: [String])? {
        switch self {
        case .user: nil
        case .room(let address, let via), .message(_, let address, let via): (address, via)
        }
    }

    /// - Parameter text: as it was typed, or stands in a link.
    public init?(_ text: String) {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard text.utf8.count <= 4000 else { return nil }
        if let address = Self.identifier(text, via: []) {
            self = address
        } else if text.lowercased().hasPrefix("matrix:"), let address = Self.uri(text) {
            self = address
        } else if let address = Self.page(text) {
            self = address
        } else {
            return nil
        }
    }

    private static func identifier(_ text: String, via: [String]) -> ChatAddress? {
        guard text.utf8.count <= 255, !text.contains(where: { $0.isWhitespace || $0 == "/" || $0 == "?" }) else {
            return nil
        }
        let hasServer = text.dropFirst(2).dropLast().contains(":")
        switch text.first {
        case "@" where hasServer: return .user(text)
        case "#" where hasServer: return .room(text, via: via)
        // Those of room version 12 have no server.
        case "!" where text.count > 1: return .room(text, via: via)
        default: return nil
        }
    }

    private static func uri(_ text: String) -> ChatAddress? {
        guard let components = URLComponents(string: text) else { return nil }
        let path = components.percentEncodedPath.split(separator: "/").map { $0.removingPercentEncoding ?? "" }
        guard path.count >= 2, let sigil = ["r": "#", "u": "@", "roomid": "!"][path[0]] else { return nil }
        let address = identifier(sigil + path[1], via: via(components))
        guard path.count >= 4, ["e", "event"].contains(path[2]) else { return address }
        return address?.leading(to: "$" + path[3])
    }

    /// What leads to no message that there can be leads to its room.
    private func leading(to event: String) -> ChatAddress {
        guard case .room(let address, let via) = self, event.hasPrefix("$"), (2...255).contains(event.utf8.count),
            !event.contains(where: \.isWhitespace)
        else { return self }
        return .message(MessageID(event), room: address, via: via)
    }

    private static func page(_ text: String) -> ChatAddress? {
        guard let components = URLComponents(string: text), components.scheme == "https",
            components.host == "matrix.to",
            let fragment = components.percentEncodedFragment, fragment.hasPrefix("/")
        else { return nil }
        let segments = fragment.dropFirst().split(separator: "?", maxSplits: 1)
        let path = segments.first?.split(separator: "/").map { $0.removingPercentEncoding ?? "" } ?? []
        guard let first = path.first else { return nil }
        var query = URLComponents()
        query.percentEncodedQuery = segments.count > 1 ? String(segments[1]) : nil
        let address = identifier(first, via: via(query))
        // Identifiers of events in rooms of version 3 may have slashes, which not every program escapes.
        return path.count > 1 ? address?.leading(to: path.dropFirst().joined(separator: "/")) : address
    }

    private static func via(_ components: URLComponents) -> [String] {
        (components.queryItems ?? []).filter { $0.name == "via" }.compactMap(\.value).filter { !$0.isEmpty }.prefix(10)
            .map {
                $0
            }
    }
}
