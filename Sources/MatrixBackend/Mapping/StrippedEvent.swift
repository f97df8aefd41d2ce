import ChatCore
import Foundation
import JSONReading

/// A stripped state event of an invitation, without event ID and timestamp.
struct StrippedEvent: Equatable, Sendable {
    let type: String
    let sender: MemberID
    let stateKey: String
    /// The content, always an object.
    let content: JSONValue

    init?(_ json: JSONValue) {
        guard let type = MatrixEvent.identifier(json["type"]), let sender = MatrixEvent.identifier(json["sender"]),
            sender.hasPrefix("@"), let key = json["state_key"]?.string,
            key.utf8.count <= MatrixEvent.maxIdentifierLength, let content = json["content"], content.object != nil
        else { return nil }
        self.type = type
        self.sender = MemberID(sender)
        stateKey = key
        self.content = content
    }
}

extension Invitation {
    /// - Parameter state: State events; the last of several with the same type and key counts.
    init(to room: RoomID, of ownUserID: MemberID, by state: [StrippedEvent], at date: Date) {
        self.init(room: room, receivedAt: date)
        var avatars: [MemberID: String] = [:]
        var names: [MemberID: String] = [:]
        var roomAvatar: String?
        for event in state {
            switch (event.type, event.stateKey) {
            case ("m.room.name", ""): name = Self.text(event.content["name"])
            case ("m.room.topic", ""): topic = Self.text(event.content["topic"], ChatLimits.topicLength)
            case ("m.room.canonical_alias", ""): address = Self.text(event.content["alias"])
            case ("m.room.avatar", ""): roomAvatar = Self.avatarURI(event.content["url"])
            case ("m.room.create", ""): isSpace = event.content["type"]?.string == "m.space"
            case ("m.room.encryption", ""): isEncrypted = true
            case ("m.room.member", ownUserID.rawValue) where event.content["membership"]?.string == "knock":
                isKnock = true
            case ("m.room.member", ownUserID.rawValue) where event.content["membership"]?.string == "invite":
                isKnock = false
                inviter = event.sender
                isDirect = event.content["is_direct"]?.bool ?? false
            case ("m.room.member", let id) where id.hasPrefix("@"):
                names[MemberID(id)] = Self.text(event.content["displayname"])
                avatars[MemberID(id)] = Self.avatarURI(event.content["avatar_url"])
            default: break
            }
        }
        inviterName = inviter.flatMap { names[$0] }
        avatar = roomAvatar ?? (isDirect ? inviter.flatMap { avatars[$0] } : nil)
    }

    private static func text(_ value: JSONValue?, _ limit: Int = ChatLimits.roomNameLength) -> String? {
        let line = ParsedRoomState.line(value?.string, limit: limit)
        return line.isEmpty ? nil : line
    }

    private static func avatarURI(_ value: JSONValue?) -> String? {
        MatrixEvent.identifier(value).flatMap { $0.hasPrefix("mxc://") ? $0 : nil }
    }
}
