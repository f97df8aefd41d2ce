import ChatCore

extension AccountsCoordinator {
    /// Reports whether the open conversation is visible in the main window while that is active.
    public func attend(_ isAttended: Bool) {
        if isAttended != self.isAttended { self.isAttended = isAttended }
    }

    /// Reports whether a room's own window is active.
    public func attend(_ isAttended: Bool, inWindowOf room: AccountRoom) {
        if isAttended, attendedWindow != room {
            attendedWindow = room
        } else if !isAttended, attendedWindow == room {
            attendedWindow = nil
        }
    }

    /// What the room list shows as seen.
    public var seenRooms: SeenRooms {
        let isSelectionInWindow = if case .window = conversations.openItem { true } else { false }
        return SeenRooms(
            isSelectionSeen: isAttended && !isSelectionInWindow,
            inWindow: attendedWindow.flatMap { $0.account == selection ? $0.room : nil })
    }

    /// The room that the user is looking at, or `nil` if there is none or the window is not active. Nothing has to tell
    /// the user of its messages.
    public var attendedRoom: DisplayedRoom? {
        if let attendedWindow { return DisplayedRoom(account: attendedWindow.account, room: attendedWindow.room) }
        return seenRooms.isSelectionSeen ? displayed : nil
    }
}
