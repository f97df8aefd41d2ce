import ChatCore
import Foundation
import JSONReading

/// The content of `m.direct`: the user's direct chats and their partners, shared with other clients.
struct DirectRooms: Equatable, Sendable {
    /// The setting that stores ``json``.
    static let setting = "matrix.direct"
    /// The setting that stores the ``json`` of what the server does not list yet.
    static let unlistedSetting = "matrix.direct.unsent"

    /// Room IDs by user ID. Unknown content is preserved.
    private(set) var json: JSONValue

    init(_ json: JSONValue = [:]) {
        self.json = json.object == nil ? [:] : json
    }

    /// The partner of each room. A room that is listed under several users has the first of them.
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

    /// Returns the direct chats with a user, in the order of `m.direct`.
    func rooms(with user: String) -> [RoomID] {
        guard let listed = member(user), listed.user == MemberID(user) else { return [] }
        return (listed.rooms.array ?? []).compactMap { MatrixEvent.identifier($0) }.map { RoomID($0) }
    }

    /// The member of ``json`` that a dictionary finds for a user: their own, or that of another user whose ID is
    /// canonically equivalent, as it can have only one of the two.
    private func member(_ user: String) -> (user: MemberID, rooms: JSONValue)? {
        guard let members = json.object, let index = members.index(forKey: user) else { return nil }
        return (MemberID(members[index].key), members[index].value)
    }

    /// Returns a copy with the other list's rooms added that it does not have.
    func adding(_ other: DirectRooms) -> DirectRooms {
        var sum = self
        for user in (other.json.object ?? [:]).keys.sorted() {
            for room in other.rooms(with: user) { sum = sum.adding(room, with: user) ?? sum }
        }
        return sum
    }

    /// Returns a copy with the room added, or `nil` if it is listed already, or cannot be as another user's ID is
    /// canonically equivalent.
    func adding(_ room: RoomID, with user: String) -> DirectRooms? {
        let listed = member(user)
        guard listed.map({ $0.user == MemberID(user) }) ?? true, !rooms(with: user).contains(room) else { return nil }
        var members = json.object ?? [:]
        members[user] = .array((listed?.rooms.array ?? []) + [.string(room.rawValue)])
        return DirectRooms(.object(members))
    }
}
