public import ChatCore

/// A room of an account: equal room identifiers of two accounts never meet.
public nonisolated struct AccountRoom: Hashable, Sendable {
    public let account: String
    public let room: RoomID

    public init(_ account: String, _ room: RoomID) {
        self.account = account
        self.room = room
    }
}
