import ChatCore
import JSONReading

/// The power levels of a room's members (specification, `m.room.power_levels`).
struct PowerLevels {
    private let content: JSONValue
    /// From room version 12 on, creators have infinite power, whatever `users` says.
    private let creators: Set<MemberID>

    /// - Parameters:
    ///   - content: `nil` in a room without the event, where only the creator may send state.
    ///   - creation: The sender and content of `m.room.create`.
    init(_ content: JSONValue?, creation: (sender: MemberID, content: JSONValue)?) {
        self.content = content ?? [:]
        guard let creation else {
            creators = []
            return
        }
        // Non-numeric room versions are experimental, and their rules are unknown.
        let version = creation.content["room_version"]?.string.flatMap { Int($0) } ?? 1
        let others = (creation.content["additional_creators"]?.array ?? []).compactMap(\.string).map { MemberID($0) }
        creators = version >= 12 ? Set([creation.sender] + others) : content == nil ? [creation.sender] : []
    }

    /// Whether a member has infinite power.
    func isCreator(_ member: MemberID) -> Bool { creators.contains(member) }

    func level(of member: MemberID) -> Int64 {
        if creators.contains(member) { return .max }
        return content["users"]?[member.rawValue]?.integer ?? content["users_default"]?.integer ?? 0
    }

    func role(of member: MemberID) -> RoomMembers.Role {
        switch level(of: member) {
        case 100...: .administrator
        case 50...: .moderator
        default: .member
        }
    }

    func mayInvite(_ member: MemberID) -> Bool { level(of: member) >= content["invite"]?.integer ?? 0 }

    /// Whether the member's `@room` notifies.
    func mayNotifyEveryone(_ member: MemberID) -> Bool {
        level(of: member) >= content["notifications"]?["room"]?.integer ?? 50
    }

    func maySend(state type: String, _ member: MemberID) -> Bool {
        let needed = content["events"]?[type]?.integer ?? content["state_default"]?.integer ?? 50
        return level(of: member) >= needed
    }

    func mayRemove(_ other: MemberID, _ member: MemberID) -> Bool {
        let ownLevel = level(of: member)
        return other != member && ownLevel >= content["kick"]?.integer ?? 50 && ownLevel > level(of: other)
    }
}
