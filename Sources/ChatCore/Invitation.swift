public import Foundation

/// Somebody asks the user into a room. What is told of the room is what its server shows to those outside.
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

/// What others ask the user into. A backend of which ``RoomAbilities/invite`` is not said has none.
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
