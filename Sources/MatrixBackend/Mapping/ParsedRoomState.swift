import ChatCore
import ChatStore
import Foundation
import JSONReading

/// The relevant content of a room's state events, as far as an update has any.
struct ParsedRoomState {
    static let nameSetting = "matrix.name"
    static let aliasSetting = ChatStore.addressSetting
    static let topicSetting = "topic"
    static let powerLevelsSetting = "matrix.powerLevels"
    static let joinedCountSetting = "matrix.joinedCount"
    static let creationSetting = "matrix.creation"

    private(set) var members: [Member] = []
    /// Empty if it was removed; `nil` if the update does not change it.
    private(set) var name: String?
    private(set) var alias: String?
    /// `.some(nil)` if it was removed; `nil` if the update does not change it.
    private(set) var avatar: String??
    private(set) var creation: RoomCreation?
    /// Whether the room is a space, which has no messages.
    private(set) var isSpace = false
    /// Whether the user's membership is no longer `join`.
    private(set) var isLeft = false
    private(set) var settings: [String: String?] = [:]
    /// The event IDs that set the stored state.
    private(set) var origins: [StateOrigin.Subject: MessageID] = [:]
    /// Members whose membership event was redacted, which removes the display name.
    private(set) var unnamed: [MemberID] = []
    var hasMemberChanges: Bool { !members.isEmpty || !unnamed.isEmpty }
    /// The state event types whose origins are stored.
    private static let storedTypes: Set = [
        "m.room.name", "m.room.canonical_alias", "m.room.avatar", "m.room.topic", "m.room.member",
    ]

    /// - Parameter state: State events; the last of several with the same type and key counts.
    init(ownUserID: MemberID, state: [MatrixEvent]) {
        var indices: [MemberID: Int] = [:]
        for event in state {
            note(event)
            switch (event.type, event.stateKey ?? "") {
            case ("m.room.member", let id):
                if event.content["membership"] == nil, event.content.object?.isEmpty == true, id.hasPrefix("@") {
                    unnamed.append(MemberID(id))
                }
                guard let member = Self.member(id, event, ownUserID: ownUserID) else { continue }
                if member.id == ownUserID { isLeft = member.hasLeft }
                if let index = indices[member.id] {
                    members[index] = member
                } else {
                    indices[member.id] = members.count
                    members.append(member)
                }
            case ("m.room.name", ""): name = Self.line(event.content["name"]?.string)
            case ("m.room.canonical_alias", ""): alias = Self.line(event.content["alias"]?.string)
            case ("m.room.avatar", ""): avatar = .some(MatrixEvent.contentURI(event.content["url"]))
            case ("m.room.topic", ""):
                let topic = Self.line(event.content["topic"]?.string, limit: ChatLimits.topicLength)
                settings.updateValue(topic.isEmpty ? nil : topic, forKey: Self.topicSetting)
            case ("m.room.power_levels", ""):
                if let text = event.content.text { settings[Self.powerLevelsSetting] = text }
            case ("m.room.encryption", ""): settings[MatrixOutboxBackend.encryptionSetting] = "1"
            case ("m.room.create", ""):
                creation = RoomCreation(creator: event.sender, at: event.sentAt)
                isSpace = event.content["type"]?.string == "m.space"
                if let link = RoomSuccession.link(event.content["predecessor"]?["room_id"], event.sender) {
                    settings.updateValue(link, forKey: RoomSuccession.previousSetting)
                }
            case ("m.room.tombstone", ""):
                settings.updateValue(
                    RoomSuccession.link(event.content["replacement_room"], event.sender),
                    forKey: RoomSuccession.nextSetting)
                let reason = Self.line(event.content["body"]?.string, limit: ChatLimits.topicLength)
                settings.updateValue(reason.isEmpty ? nil : reason, forKey: RoomSuccession.reasonSetting)
            default: break
            }
        }
        if let name { settings[Self.nameSetting] = name }
        if let alias { settings[Self.aliasSetting] = alias }
        if let creation { settings[Self.creationSetting] = creation.text }
    }

    private mutating func note(_ event: MatrixEvent) {
        guard Self.storedTypes.contains(event.type), let key = event.stateKey else { return }
        // A leave event seldom has a display name: keep the origin of the former name.
        if event.type == "m.room.member", event.content["membership"]?.string != "join",
            event.content["displayname"] == nil
        {
            return
        }
        origins[StateOrigin.Subject(type: event.type, key: key)] = event.id
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

    /// Returns text collapsed to a single line, for lists.
    static func line(_ text: String?, limit: Int = ChatLimits.roomNameLength) -> String {
        // Limit scalars first: a single character may have any number of them.
        let text = String(String.UnicodeScalarView((text ?? "").unicodeScalars.prefix(4000)))
        let words = text.split { $0.isWhitespace || $0 == "\0" }
        return String(words.joined(separator: " ").prefix(limit))
    }
}
