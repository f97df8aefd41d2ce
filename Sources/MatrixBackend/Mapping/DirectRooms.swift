import ChatCore
import Foundation
import JSONReading

/// Which rooms are conversations for two, and with whom: the user's `m.direct`, which all programs of the user share.
struct DirectRooms: Equatable, Sendable {
    /// Under which the store keeps ``json``.
    static let setting = "matrix.direct"

    /// Rooms by whom they are with. What is none of ours to read stays as it is.
    private(set) var json: JSONValue

    init(_ json: JSONValue = [:]) {
        self.json = json.object == nil ? [:] : json
    }

    /// Whom a room is with. One that is noted under several is with the first of them.
    var partners: [RoomID: MemberID] {
        var found: [RoomID: MemberID] = [:]
        for (user, rooms) in (json.object ?? [:]).sorted(by: { $0.key < $1.key }) where user.hasPrefix("@") {
            for room in rooms.array ?? [] {
                guard let id = MatrixEvent.identifier(room), found[RoomID(id)] == nil else { continue }
                found[RoomID(id)] = MemberID(user)
            }
        }
        return found
    }

    /// The rooms with somebody, the first noted first.
    func rooms(with user: String) -> [RoomID] {
        (json[user]?.array ?? []).compactMap { MatrixEvent.identifier($0) }.map { RoomID($0) }
    }

    /// - Returns: nil if it is noted already.
    func adding(_ room: RoomID, with user: String) -> DirectRooms? {
        guard !rooms(with: user).contains(room) else { return nil }
        var members = json.object ?? [:]
        members[user] = .array((members[user]?.array ?? []) + [.string(room.rawValue)])
        return DirectRooms(.object(members))
    }
}
