/// How another user removed the user from a room.
public struct RoomRemoval: Equatable, Sendable {
    public enum Kind: Sendable {
        case removed, banned
    }

    public let room: RoomID
    public var roomName: String
    public let kind: Kind
    /// Who did it.
    public let actor: MemberID
    /// Their display name in the room, or else their ID.
    public var actorName: String
    /// On a single line, and limited in length.
    public let reason: String?

    public init(room: RoomID, roomName: String, kind: Kind, actor: MemberID, actorName: String, reason: String?) {
        self.room = room
        self.roomName = roomName
        self.kind = kind
        self.actor = actor
        self.actorName = actorName
        self.reason = reason
    }
}
