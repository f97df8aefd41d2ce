import ChatCore

/// The rooms with windows of their own.
extension AccountsCoordinator {
    /// Ordered by account, then by when the windows were opened.
    public var roomWindows: [AccountRoom] {
        coordinatorIDs.flatMap { account in
            coordinator(of: account)?.roomWindows.map { AccountRoom(account, $0.roomID) } ?? []
        }
    }

    /// Returns the account that these are the conversations of, or `nil` if it was signed out.
    public func account(of conversations: ConversationCoordinator) -> String? {
        coordinatorIDs.first { coordinator(of: $0) === conversations }
    }

    /// Returns the coordinator and the conversation of a room with a window of its own.
    public func window(of room: AccountRoom) -> (coordinator: ConversationCoordinator, conversation: Conversation)? {
        guard let coordinator = coordinator(of: room.account),
            let conversation = coordinator.roomWindows.first(where: { $0.roomID == room.room })
        else { return nil }
        return (coordinator, conversation)
    }

    /// The verification that a window is to present; `nil` if there is none, or if it is for another window or presented
    /// already.
    /// - Parameter room: the room of a window of its own; `nil` for the main window.
    public func verificationToPresent(in room: AccountRoom?) -> VerificationViewModel? {
        // One that is over stays current until the service knows. The dialog of one that was set aside closes first.
        guard let current = verifications.current, !current.isPresented, !current.state.isOver,
            !verifications.isOtherPresented, verificationWindow == room, room != nil || hasWindow
        else { return nil }
        return current
    }

    /// The room whose own window presents verifications, or `nil` for the main window: the window in use, or else one
    /// that is open.
    private var verificationWindow: AccountRoom? {
        if let windowInUse, hasWindow(of: windowInUse) { return windowInUse }
        return hasWindow ? nil : roomWindows.first { hasWindow(of: $0) }
    }

    /// Whether the notification's room has a window of its own, so that no other window is needed.
    public func hasWindow(of target: NotificationTarget) -> Bool {
        hasWindow(of: AccountRoom(target.account, target.room))
    }

    /// Whether a room has a window of its own that is not closing.
    public func hasWindow(of room: AccountRoom) -> Bool {
        coordinator(of: room.account)?.openRooms.visibleWindow(of: room.room) != nil
    }

    /// Marks a room's window as closing, see ``ConversationCoordinator/noteClosingWindow(of:)``.
    public func noteClosingWindow(of room: AccountRoom) {
        coordinator(of: room.account)?.noteClosingWindow(of: room.room)
    }

    /// Closes the window of a room, see ``ConversationCoordinator/closeWindow(of:)``.
    public func closeWindow(of room: AccountRoom) { coordinator(of: room.account)?.closeWindow(of: room.room) }

    /// Restores the windows of rooms, each once its account is open and the room is listed.
    public func restoreWindows(of rooms: [AccountRoom]) {
        for (account, rooms) in Dictionary(grouping: rooms, by: \.account) {
            let rooms = rooms.map(\.room)
            if let coordinator = coordinator(of: account) {
                coordinator.restoreWindows(of: rooms)
            } else {
                awaitedWindows[account] = rooms
            }
        }
    }
}
