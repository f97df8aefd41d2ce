import ChatCore
import ChatStore
import Foundation
import JSONReading

/// A room's state with state events applied, and the other information in these events.
struct ParsedRoomState {
    /// The known state with the events applied.
    private(set) var room: RoomState
    /// The members whom the events concern.
    private(set) var members: [Member] = []
    /// Whether an event sets or removes the name or the alias.
    private(set) var setsName = false
    /// Whether an event sets or removes the room's own avatar.
    private(set) var setsAvatar = false
    /// Whether the room is a space, which has no messages.
    private(set) var isSpace = false
    /// Whether the user's membership is no longer `join`.
    private(set) var isLeft = false
    /// The event by which another user removed or banned the user, if that is why they are out of the room.
    private(set) var removal: MatrixEvent?
    /// The event IDs that set the stored state.
    private(set) var origins: [StateOrigin.Subject: MessageID] = [:]
    /// Members whose membership event was redacted, which removes the display name.
    private(set) var unnamed: [MemberID] = []
    /// The state event types whose origins are stored.
    private static let storedTypes: Set = [
        "m.room.name", "m.room.canonical_alias", "m.room.avatar", "m.room.topic", "m.room.member",
    ]

    /// - Parameters:
    ///   - state: State events; the last of several with the same type and key counts.
    ///   - known: The state before them.
    init(ownUserID: MemberID, state: [MatrixEvent], known: RoomState = RoomState()) {
        room = known
        var isCreated = false
        var indices: [MemberID: Int] = [:]
        for event in state {
            note(event)
            switch (event.type, event.stateKey ?? "") {
            case ("m.room.member", let id):
                if event.content["membership"] == nil, event.content.object?.isEmpty == true, id.hasPrefix("@") {
                    unnamed.append(MemberID(id))
                }
                guard let member = Self.member(id, event, ownUserID: ownUserID) else { continue }
                if member.id == ownUserID {
                    isLeft = member.hasLeft
                    removal = Self.removal(of: member.id, by: event, after: removal)
                }
                if let index = indices[member.id] {
                    members[index] = member
                } else {
                    indices[member.id] = members.count
                    members.append(member)
                }
            case ("m.room.create", ""):
                isCreated = true
                isSpace = event.content["type"]?.string == "m.space"
                apply(event)
            case (_, ""): apply(event)
            default: break
            }
        }
        // Only the whole state proves that there is no encryption, and its creation event comes with it. Without
        // that event, a room whose state was lost, for example when the store was damaged, would seem unencrypted.
        if room.encryption == .unknown, isCreated { room.encryption = .off }
    }

    /// Applies state of the room itself, whose key is empty.
    private mutating func apply(_ event: MatrixEvent) {
        let content = event.content
        switch event.type {
        case "m.room.name":
            room.name = Self.text(content["name"])
            setsName = true
        case "m.room.canonical_alias":
            room.alias = Self.text(content["alias"])
            setsName = true
        case "m.room.avatar":
            room.avatar = MatrixEvent.contentURI(content["url"])
            setsAvatar = true
        case "m.room.topic": room.topic = Self.text(content["topic"], limit: ChatLimits.topicLength)
        // Without any text, the room would seem to have no such event, and its creator more power.
        case "m.room.power_levels": room.powerLevels = content.text ?? room.powerLevels ?? "{}"
        case "m.room.encryption": room.encryption = .on
        case "m.room.create":
            room.creation = RoomState.Creation(by: event.sender, content, at: event.sentAt)
            let predecessor = MatrixLink.link(to: content["predecessor"]?["room_id"], by: event.sender)
            room.succession.previous = predecessor ?? room.succession.previous
        case "m.room.tombstone":
            room.succession.next = MatrixLink.link(to: content["replacement_room"], by: event.sender)
            room.succession.reason = Self.text(content["body"], limit: ChatLimits.topicLength)
        default: break
        }
    }

    private mutating func note(_ event: MatrixEvent) {
        guard Self.storedTypes.contains(event.type), let key = event.stateKey else { return }
        // A leave event seldom has a display name: keep the origin of the former name.
        if event.type == "m.room.member", event.content["membership"]?.string != "join",
            event.content["displayname"] == nil
        {
            return
        }
        // Named anew after the redaction of the former name.
        if event.type == "m.room.member" { unnamed.removeAll { $0 == MemberID(key) } }
        origins[StateOrigin.Subject(type: event.type, key: key)] = event.id
    }

    /// Returns the removal that counts after another membership event of the user.
    private static func removal(
        of user: MemberID, by event: MatrixEvent, after earlier: MatrixEvent?
    ) -> MatrixEvent? {
        // The user has joined, left, knocked, or declined an invitation.
        guard event.sender != user else { return nil }
        return switch RoomEvent(event, stateKey: user.rawValue)?.kind {
        case .removed?, .banned?: event
        // Neither another invitation nor the end of one, or of a ban, brings the user back.
        default: earlier
        }
    }

    private static func member(_ id: String, _ event: MatrixEvent, ownUserID: MemberID) -> Member? {
        guard id.hasPrefix("@"), let membership = event.content["membership"]?.string else { return nil }
        // A leave event seldom has a display name.
        let rawName =
            event.content["displayname"] ?? (membership == "join" ? nil : event.previousContent?["displayname"])
        let name = line(rawName?.string)
        return Member(
            id: MemberID(id), displayName: name.isEmpty ? id : name, kind: MemberID(id) == ownUserID ? .own : .person,
            hasLeft: membership != "join", avatar: MatrixEvent.contentURI(event.content["avatar_url"]))
    }

    /// Returns text collapsed to a single line, or `nil` if there is none.
    private static func text(_ value: JSONValue?, limit: Int = ChatLimits.roomNameLength) -> String? {
        let line = line(value?.string, limit: limit)
        return line.isEmpty ? nil : line
    }

    /// Returns text collapsed to a single line, for lists.
    static func line(_ text: String?, limit: Int = ChatLimits.roomNameLength) -> String {
        // Limit scalars first: a single character may have any number of them.
        let text = String(String.UnicodeScalarView((text ?? "").unicodeScalars.prefix(4000)))
        let words = text.split { $0.isWhitespace || $0 == "\0" }
        return String(words.joined(separator: " ").prefix(limit))
    }
}

extension StateOrigin.Subject {
    /// The membership of a user.
    static func member(_ user: MemberID) -> StateOrigin.Subject {
        StateOrigin.Subject(type: "m.room.member", key: user.rawValue)
    }
}
