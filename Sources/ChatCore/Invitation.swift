public import Foundation

/// Somebody asks the user into a room, or the user asks to be let in. What is told of the room is what its server shows to those outside.
public struct Invitation: Identifiable, Equatable, Sendable, Codable {
    public let room: RoomID
    /// nil if the room has none.
    public var name: String?
    public var topic: String?
    /// Under which others find the room.
    public var address: String?
    /// The room's picture, or that of who invites into a conversation for two; `mxc://…`.
    public var avatar: String?
    public var inviter: MemberID?
    public var inviterName: String?
    /// Whether it is to be a conversation for two.
    public var isDirect: Bool
    public var isEncrypted: Bool
    /// Whether it is the user who asks (a knock): somebody in the room has to answer.
    public var isKnock = false
    /// When this computer first knew of it.
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

    /// What the room is called in a list: by its name, its address, or who invites.
    public var title: String {
        [name, address, inviterName, inviter?.rawValue].compactMap { $0 }.first { !$0.isEmpty } ?? room.rawValue
    }
}

extension Invitation {
    /// What an earlier version kept knows of no knock.
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
        receivedAt = try values.decode(Date.self, forKey: .receivedAt)
    }
}

/// What others ask the user into. A backend of which ``BackendCapabilities/invite`` is not said has none.
public protocol InvitationService: Sendable {
    /// All of them, the newest first: once at the start, then after each change.
    func invitations() -> AsyncStream<[Invitation]>
    /// Enters the room. It is in the list of rooms from then on, and the invitation in its list no more.
    /// - Throws: ``ChatError/notFound`` if it was taken back.
    func accept(_ invitation: RoomID) async throws
    /// - Throws: ``ChatError`` if the server could not be told: the invitation stays.
    func decline(_ invitation: RoomID) async throws
}

extension InvitationService {
    public func invitations() -> AsyncStream<[Invitation]> { AsyncStream { $0.finish() } }
    public func accept(_ invitation: RoomID) async throws { throw ChatError.notPermitted }
    public func decline(_ invitation: RoomID) async throws { throw ChatError.notPermitted }
}
