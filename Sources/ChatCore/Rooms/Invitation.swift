public import Foundation

/// An invitation to a room, or the user's own knock. Details are those of the server's stripped state.
public struct Invitation: Identifiable, Equatable, Sendable, Codable {
    public let room: RoomID
    /// The room's name, if any.
    public var name: String?
    public var topic: String?
    /// The room's canonical alias, if any.
    public var address: String?
    /// The avatar of the room, or of the inviter for a direct chat, as an `mxc://` URI.
    public var avatar: String?
    public var inviter: MemberID?
    public var inviterName: String?
    /// Whether the room is a direct chat.
    public var isDirect: Bool
    public var isEncrypted: Bool
    /// Whether this is a knock of the user, which a member of the room has to accept.
    public var isKnock = false
    /// Whether the room is a space, which has no messages.
    public var isSpace = false
    /// When this client first received the invitation.
    public var receivedAt: Date

    public var id: RoomID { room }

    public init(
        room: RoomID, name: String? = nil, topic: String? = nil, address: String? = nil, avatar: String? = nil,
        inviter: MemberID? = nil, inviterName: String? = nil, isDirect: Bool = false, isEncrypted: Bool = false,
        receivedAt: Date
    ) {
        self.room = room
        self.name = name
        self.topic = topic
        self.address = address
        self.avatar = avatar
        self.inviter = inviter
        self.inviterName = inviterName
        self.isDirect = isDirect
        self.isEncrypted = isEncrypted
        self.receivedAt = receivedAt
    }

    /// The title for lists: the room's name, its alias, or the inviter.
    public var title: String {
        [name, address, inviterName, inviter?.rawValue].compactMap { $0 }.first { !$0.isEmpty } ?? room.rawValue
    }
}

extension Invitation {
    /// Decodes an invitation; data of earlier versions lacks `isKnock` and `isSpace`.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        room = try values.decode(RoomID.self, forKey: .room)
        name = try values.decodeIfPresent(String.self, forKey: .name)
        topic = try values.decodeIfPresent(String.self, forKey: .topic)
        address = try values.decodeIfPresent(String.self, forKey: .address)
        avatar = try values.decodeIfPresent(String.self, forKey: .avatar)
        inviter = try values.decodeIfPresent(MemberID.self, forKey: .inviter)
        inviterName = try values.decodeIfPresent(String.self, forKey: .inviterName)
        isDirect = try values.decode(Bool.self, forKey: .isDirect)
        isEncrypted = try values.decode(Bool.self, forKey: .isEncrypted)
        isKnock = try values.decodeIfPresent(Bool.self, forKey: .isKnock) ?? false
        isSpace = try values.decodeIfPresent(Bool.self, forKey: .isSpace) ?? false
        receivedAt = try values.decode(Date.self, forKey: .receivedAt)
    }
}

/// The user's invitations. Backends without ``BackendCapabilities/invite`` have none.
public protocol InvitationService: Sendable {
    /// All invitations, newest first: once at the start, then after each change.
    func invitations() -> AsyncStream<[Invitation]>
    /// Joins the room, which moves it from the invitations to the rooms.
    /// - Throws: ``ChatError/notFound`` if the invitation was revoked, ``ChatError/spaceUnsupported``.
    func accept(_ invitation: RoomID) async throws
    /// Rejects an invitation, or withdraws a knock.
    /// - Throws: ``ChatError`` if the server could not be reached: the invitation stays.
    func decline(_ invitation: RoomID) async throws
}

extension InvitationService {
    public func invitations() -> AsyncStream<[Invitation]> { AsyncStream { $0.finish() } }
    public func accept(_ invitation: RoomID) async throws { throw ChatError.notPermitted }
    public func decline(_ invitation: RoomID) async throws { throw ChatError.notPermitted }
}
