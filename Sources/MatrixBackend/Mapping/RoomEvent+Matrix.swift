import ChatCore
import ChatStore
import Foundation
import JSONReading

extension RoomEvent {
    /// - Returns: `nil` for state that is not displayed, or a change without visible effect.
    init?(_ event: MatrixEvent, stateKey key: String) {
        let before = event.previousContent
        switch (event.type, key) {
        case ("m.room.member", _):
            guard let change = Self.member(event, key, before) else { return nil }
            self = change
        case ("m.room.name", ""):
            self.init(.roomNamed, before: Self.text(before?["name"]), after: Self.text(event.content["name"]))
            if event.isRedacted { return }
            guard self.before != after else { return nil }
        case ("m.room.topic", ""):
            let limit = ChatLimits.topicLength
            self.init(
                .topicSet, before: Self.text(before?["topic"], limit), after: Self.text(event.content["topic"], limit))
            if event.isRedacted { return }
            guard self.before != after else { return nil }
        case ("m.room.avatar", ""):
            guard before?["url"] != event.content["url"] || before == nil else { return nil }
            self.init(.roomAvatarChanged)
        case ("m.room.encryption", ""):
            guard before == nil else { return nil }
            self.init(.encrypted)
        case ("m.room.tombstone", ""):
            self.init(
                .replaced, before: MatrixLink.link(to: event.content["replacement_room"], by: event.sender),
                after: Self.text(event.content["body"], ChatLimits.topicLength))
        case ("m.room.create", ""):
            guard let link = MatrixLink.link(to: event.content["predecessor"]?["room_id"], by: event.sender) else {
                return nil
            }
            self.init(.continued, before: link)
        default:
            guard let change = Self.rule(event, key, before) else { return nil }
            self = change
        }
    }

    /// Permissions, visibility, aliases and pinned messages.
    private static func rule(_ event: MatrixEvent, _ key: String, _ before: JSONValue?) -> RoomEvent? {
        let content = event.content
        func word(_ kind: Kind, _ field: String) -> RoomEvent? {
            guard let now = text(content[field]), before?[field] != content[field] else { return nil }
            return RoomEvent(kind, after: now)
        }
        switch (event.type, key) {
        case ("m.room.power_levels", ""): return powers(content, before)
        case ("m.room.join_rules", ""): return word(.joinRuleSet, "join_rule")
        case ("m.room.history_visibility", ""): return word(.historyVisibilitySet, "history_visibility")
        case ("m.room.guest_access", ""): return word(.guestAccessSet, "guest_access")
        case ("m.room.canonical_alias", ""):
            let (was, now) = (text(before?["alias"]), text(content["alias"]))
            if before == nil ? now != nil : was != now { return RoomEvent(.addressSet, before: was, after: now) }
            guard let before, before["alt_aliases"] != content["alt_aliases"] else { return nil }
            return RoomEvent(.addressesSet)
        case ("m.room.pinned_events", ""):
            let (was, now) = (before?["pinned"]?.array ?? [], content["pinned"]?.array ?? [])
            guard was != now else { return nil }
            return RoomEvent(now.count < was.count ? .unpinned : .pinned)
        case ("m.room.third_party_invite", _):
            let name = text(content["display_name"])
            guard name != nil || before != nil else { return nil }
            let isRevoked = name == nil
            return RoomEvent(
                isRevoked ? .uninvitedElsewhere : .invitedElsewhere, after: name ?? text(before?["display_name"]))
        default: return nil
        }
    }

    private static func powers(_ content: JSONValue, _ before: JSONValue?) -> RoomEvent? {
        guard let before else { return RoomEvent(.permissionsSet) }
        guard before != content else { return nil }
        let (was, now) = (PowerLevels(before, creation: nil), PowerLevels(content, creation: nil))
        let users = Set((before["users"]?.object ?? [:]).keys).union((content["users"]?.object ?? [:]).keys)
        let changed = users.filter { was.level(of: MemberID($0)) != now.level(of: MemberID($0)) }
        var (rest, oldRest) = (content.object ?? [:], before.object ?? [:])
        (rest["users"], oldRest["users"]) = (nil, nil)
        guard changed.count == 1, let user = changed.first, user.hasPrefix("@"), rest == oldRest else {
            return RoomEvent(.permissionsSet)
        }
        let role: Role =
            switch now.role(of: MemberID(user)) {
            case .administrator: .administrator
            case .moderator: .moderator
            default: .member
            }
        return RoomEvent(.roleSet, subject: MemberID(user), after: role.rawValue)
    }

    private static func member(_ event: MatrixEvent, _ key: String, _ before: JSONValue?) -> RoomEvent? {
        guard key.hasPrefix("@"), !key.utf8.contains(0), let now = event.content["membership"]?.string else {
            return nil
        }
        let subject = MemberID(key)
        let was = before?["membership"]?.string ?? "leave"
        let (oldName, newName) = (text(before?["displayname"]), text(event.content["displayname"]))
        let isBySubject = event.sender == subject
        let kind: Kind
        switch (was, now) {
        case ("join", "join"):
            // Without a display name, the user ID is displayed.
            if oldName != newName {
                return RoomEvent(
                    .renamed, subject: subject, name: oldName ?? key, before: oldName ?? key, after: newName ?? key)
            }
            guard before?["avatar_url"] != event.content["avatar_url"] else { return nil }
            return RoomEvent(.avatarChanged, subject: subject, name: newName)
        case (_, "join"): kind = .joined
        case (let was, "invite"):
            guard was != "invite" else { return nil }
            kind = .invited
        case (let was, "knock"):
            guard was != "knock" else { return nil }
            kind = .knocked
        case (let was, "ban"):
            guard was != "ban" else { return nil }
            kind = .banned
        case ("ban", "leave"): kind = .unbanned
        case ("invite", "leave"): kind = isBySubject ? .declined : .uninvited
        case ("knock", "leave"): kind = isBySubject ? .left : .uninvited
        // Without `prev_content`, the former membership is assumed to be `join`.
        case ("join", "leave"): kind = isBySubject ? .left : .removed
        case ("leave", "leave"):
            guard before == nil else { return nil }
            kind = isBySubject ? .left : .removed
        default: return nil
        }
        return RoomEvent(kind, subject: subject, name: newName ?? oldName)
    }

    private static func text(_ value: JSONValue?, _ limit: Int = ChatLimits.roomNameLength) -> String? {
        let line = ParsedRoomState.line(value?.string, limit: limit)
        return line.isEmpty ? nil : line
    }
}

extension MatrixEvent {
    /// The content of the state event that this one replaced, if the server includes it.
    var previousContent: JSONValue? {
        [unsigned["prev_content"], unsigned["replaces_state"] == nil ? nil : [:]].compactMap { $0 }
            .first { $0.object != nil }
    }
}

extension RoomState.Creation {
    /// In seconds. A room's initial state events are separate events, which a busy server takes a while to create.
    private static let duration: TimeInterval = 60

    /// Whether an event belongs to the room's initial state, including the creator's first invitations.
    func includes(_ event: MatrixEvent) -> Bool {
        // Links to a predecessor or a successor are always displayed.
        if ["m.room.create", "m.room.tombstone"].contains(event.type) { return false }
        return event.sender == creator && event.previousContent == nil
            && (0...Self.duration).contains(event.sentAt.timeIntervalSince(at))
    }
}
