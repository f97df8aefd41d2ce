import ChatCore
import JSONReading

/// Links to rooms and messages (specification, matrix.to navigation).
enum MatrixLink {
    /// The maximum number of `via` servers.
    private static let maxServers = 3

    /// - Parameter members: The user first. The user's server comes first in `via`, then those with the most members.
    static func link(to message: MessageID, in room: RoomID, by members: [MemberID]) -> String {
        let link = "https://matrix.to/#/\(escaped(room.rawValue))/\(escaped(message.rawValue))"
        let query = servers(of: members).map { "via=" + escaped($0) }.joined(separator: "&")
        return query.isEmpty ? link : link + "?" + query
    }

    /// - Parameter members: The user first, as for a message.
    static func link(to room: RoomID, by members: [MemberID]) -> String {
        let query = servers(of: members).map { "via=" + escaped($0) }.joined(separator: "&")
        return "https://matrix.to/#/\(escaped(room.rawValue))" + (query.isEmpty ? "" : "?" + query)
    }

    /// Returns a link to the room that an event names, or `nil` if it names none.
    /// - Parameter sender: The event's sender, whose server is assumed to be in the room.
    static func link(to room: JSONValue?, by sender: MemberID) -> String? {
        guard let id = MatrixEvent.identifier(room), id.hasPrefix("!") else { return nil }
        return link(to: RoomID(id), by: [sender])
    }

    /// Returns the server name of a user ID.
    static func server(_ member: MemberID) -> String? {
        member.rawValue.firstIndex(of: ":").map { String(member.rawValue[member.rawValue.index(after: $0)...]) }
    }

    /// Returns at most three servers: the first member's, then those with the most members.
    static func servers(of members: [MemberID]) -> [String] {
        let ownServer = members.first.flatMap(server)
        var counts: [String: Int] = [:]
        for name in members.compactMap(server) where name != ownServer && !name.isEmpty {
            counts[name, default: 0] += 1
        }
        let others = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
        return Array(([ownServer].compactMap { $0 } + others).prefix(maxServers))
    }

    /// Percent-encodes all bytes except unreserved characters (RFC 3986).
    private static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: String(UnicodeScalar(byte))
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }
}
