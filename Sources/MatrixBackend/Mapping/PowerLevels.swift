import ChatCore
import ChatStore
import Foundation
import JSONReading

/// The power levels of a room's members (specification, `m.room.power_levels`).
struct PowerLevels: Equatable, Sendable {
    private let content: JSONValue
    /// `nil` if it is unknown.
    private let creation: RoomState.Creation?
    /// The members with infinite power, whatever `users` says.
    private let creators: Set<MemberID>

    /// - Parameters:
    ///   - content: `nil` in a room without the event, where only the creator may send state.
    ///   - creation: `nil` if it is unknown: then nobody has more power than `content` says.
    init(_ content: JSONValue?, creation: RoomState.Creation?) {
        self.content = content ?? [:]
        self.creation = creation
        var creators = creation?.privileged ?? []
        if content == nil, let creation { creators.insert(creation.creator) }
        self.creators = creators
    }

    /// Reads the stored state of a room. Text that is not JSON was damaged, and then grants nothing.
    init(of state: RoomState) {
        let content = state.powerLevels.map { (try? JSONValue(parsing: Data($0.utf8))) ?? [:] }
        self.init(content, creation: state.creation)
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
    func mayNotifyEveryone(_ member: MemberID) -> Bool { mayNotify("room", member) }

    /// Whether the member may send a kind of notification (`sender_notification_permission`); 50 by default.
    func mayNotify(_ kind: String, _ member: MemberID) -> Bool {
        level(of: member) >= content["notifications"]?[kind]?.integer ?? 50
    }

    func maySend(state type: String, _ member: MemberID) -> Bool {
        let needed = content["events"]?[type]?.integer ?? content["state_default"]?.integer ?? 50
        return level(of: member) >= needed
    }

    /// Returns the messages for which the member's level is certainly too low. Where levels are unknown or malformed,
    /// the server decides.
    func forbiddenMessages(for member: MemberID) -> RoomHeadline.MessageKinds {
        var forbidden: RoomHeadline.MessageKinds = []
        if isTooLow(member, for: "m.room.message") { forbidden.insert(.unencrypted) }
        if isTooLow(member, for: "m.room.encrypted") { forbidden.insert(.encrypted) }
        return forbidden
    }

    /// Whether the member's level is certainly too low for events of a type that is not state.
    private func isTooLow(_ member: MemberID, for type: String) -> Bool {
        // Without the creation, any member may be a creator.
        guard let creation, !isCreator(member), let users = (content["users"] ?? [:]).object,
            let events = (content["events"] ?? [:]).object
        else { return false }
        let listed = users[member.rawValue]
        // A room of an experimental version may give its creator infinite power without listing them.
        if listed == nil, creation.creator == member { return false }
        let own: JSONValue = listed ?? content["users_default"] ?? 0
        let needed: JSONValue = events[type] ?? content["events_default"] ?? 0
        guard let ownLevel = own.integer, let neededLevel = needed.integer else { return false }
        return ownLevel < neededLevel
    }

    func mayRemove(_ other: MemberID, _ member: MemberID) -> Bool {
        let ownLevel = level(of: member)
        return other != member && ownLevel >= content["kick"]?.integer ?? 50 && ownLevel > level(of: other)
    }
}

extension RoomState.Creation {
    /// From room version 12 on, creators have infinite power, whatever the power levels say.
    /// - Parameter content: The content of `m.room.create`.
    init(by creator: MemberID, _ content: JSONValue, at date: Date) {
        self.init(creator: creator, at: date)
        // Non-numeric room versions are experimental, and their rules are unknown.
        guard let version = content["room_version"]?.string.flatMap({ Int($0) }), version >= 12 else { return }
        let others = (content["additional_creators"]?.array ?? []).compactMap { MatrixEvent.identifier($0) }
        // The store separates them by spaces: an ID with a space in it would become those of others.
        let valid = ([creator.rawValue] + others).filter { $0.hasPrefix("@") && !$0.contains(where: \.isWhitespace) }
        privileged = Set(valid.map { MemberID($0) })
    }
}
