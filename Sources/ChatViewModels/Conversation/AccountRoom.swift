public import ChatCore

/// A room with its account, since room IDs may coincide between accounts.
public nonisolated struct AccountRoom: Hashable, Sendable {
    public let account: String
    public let room: RoomID

    public init(_ account: String, _ room: RoomID) {
        self.account = account
        self.room = room
    }
}
