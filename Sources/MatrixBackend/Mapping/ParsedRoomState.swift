import ChatCore
import ChatStore
import Foundation
import JSONReading

/// What the state of a room says of it, as far as it was told.
struct ParsedRoomState {
    static let nameSetting = "matrix.name"
    static let aliasSetting = ChatStore.addressSetting
    static let topicSetting = "topic"
    static let powerLevelsSetting = "matrix.powerLevels"
    static let joinedCountSetting = "matrix.joinedCount"
    static let creationSetting = "matrix.creation"

    private(set) var members: [Member] = []
    /// Empty where it was taken away; nil where nothing was told.
    private(set) var name: String?
    private(set) var alias: String?
    /// `.some(nil)` where it was taken away; nil where nothing was told.
    private(set) var avatar: String??
    private(set) var creation: RoomCreation?
    /// Whether it holds rooms in the place of messages.
    private(set) var isSpace = false
    /// Whether the user was told to be out of it.
    private(set) var isLeft = false
    private(set) var settings: [String: String?] = [:]
    /// Which events set what is read.
    private(set) var origins: [StateOrigin.Subject: MessageID] = [:]
    /// Members of whom it was deleted what they are called.
    private(set) var unnamed: [MemberID] = []
    var hasMemberChanges: Bool { !members.isEmpty || !unnamed.isEmpty }
    /// Of the types of state that are kept.
    private static let storedTypes: Set = [
        "m.room.name", "m.room.canonical_alias", "m.room.avatar", "m.room.topic", "m.room.member",
    ]

    /// - Parameter state: of several events of one kind the last one counts.
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
        // Who leaves is seldom named: what they are called is what was said before.
        if event.type == "m.room.member", event.content["membership"]?.string != "join",
            event.content["displayname"] == nil
        {
            return
        }
        origins[StateOrigin.Subject(type: event.type, key: key)] = event.id
    }

    private static func member(_ id: String, _ event: MatrixEvent, ownUserID: MemberID) -> Member? {
        guard id.hasPrefix("@"), let membership = event.content["membership"]?.string else { return nil }
        // Who leaves is seldom named.
        let rawName =
            event.content["displayname"] ?? (membership == "join" ? nil : event.previousContent?["displayname"])
        let name = line(rawName?.string)
        return Member(
            id: MemberID(id), displayName: name.isEmpty ? id : name, kind: MemberID(id) == ownUserID ? .own : .person,
            hasLeft: membership != "join", avatar: MatrixEvent.contentURI(event.content["avatar_url"]))
    }

    /// As it fits on a line of a list.
    static func line(_ text: String?, limit: Int = ChatLimits.roomNameLength) -> String {
        // In scalars first: a character may hold any number of them.
        let text = String(String.UnicodeScalarView((text ?? "").unicodeScalars.prefix(4000)))
        let words = text.split { $0.isWhitespace || $0 == "\0" }
        return String(words.joined(separator: " ").prefix(limit))
    }
}
