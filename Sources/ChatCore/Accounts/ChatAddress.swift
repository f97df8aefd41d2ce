import Foundation

/// A user, a room, or a message in a room, given as an identifier or a link: `@name:server`, `#name:server`, `!room`, a
/// `matrix:` URI or `https://matrix.to/#/…` (Matrix specification, URIs).
public enum ChatAddress: Equatable, Sendable {
    case user(String)
    /// A room by ID or alias.
    /// - Parameter via: Servers to join through.
    case room(String, via: [String])
    /// A message in a room.
    /// - Parameter room: A room ID or alias, as in ``room(_:via:)``.
    case message(MessageID, room: String, via: [String])

    /// The room and the servers to join it through, or `nil` for a user.
    public var room: (address: String, via: [String])? {
        switch self {
        case .user: nil
        case .room(let address, let via), .message(_, let address, let via): (address, via)
        }
    }

    /// Parses an address.
    /// - Parameter text: Text as typed, or a link's target.
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
        // Room IDs have no server name since room version 12.
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

    /// Returns the address of an event in this room, or the room's own address if the event ID is invalid.
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
        // Event IDs of room version 3 may contain slashes, which some clients do not escape.
        return path.count > 1 ? address?.leading(to: path.dropFirst().joined(separator: "/")) : address
    }

    private static func via(_ components: URLComponents) -> [String] {
        (components.queryItems ?? []).filter { $0.name == "via" }.compactMap(\.value).filter { !$0.isEmpty }.prefix(10)
            .map {
                $0
            }
    }
}
