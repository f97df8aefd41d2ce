import ChatCore

/// The room that a folded main window shows in place of its room list as soon as it is open.
///
/// A room that has to be joined first opens only after the server's answer. Until then, the room before it must not be
/// shown: what the user types would go there.
public nonisolated struct AwaitedRoom: Equatable, Sendable {
    private var room: AccountRoom?

    public init() {}

    /// Awaits a room.
    /// - Parameters:
    ///   - open: what the window displays now.
    ///   - account: the account that it displays.
    /// - Returns: whether it is open already, and to be shown now.
    public mutating func request(
        _ room: AccountRoom, open: ConversationCoordinator.OpenItem?, in account: String
    ) -> Bool {
        self.room = room
        guard let open, room == AccountRoom(account, open.roomID) else { return false }
        return noteOpened(open, in: account)
    }

    /// Notes that the window displays something else.
    /// - Returns: whether it is what was awaited, and to be shown now.
    public mutating func noteOpened(_ item: ConversationCoordinator.OpenItem, in account: String) -> Bool {
        // What another account opens meanwhile is not the user's choice.
        guard let room, room.account == account else { return false }
        // Who has opened another room stays there.
        self.room = nil
        return item.roomID == room.room
    }
}
