import ChatCore

extension AccountsCoordinator {
    /// Call this when the open conversation becomes visible in the active main window, or no longer is.
    public func attend(_ isAttended: Bool) {
        if isAttended != self.isAttended { self.isAttended = isAttended }
    }

    /// Call this when a room's own window becomes active or inactive.
    public func attend(_ isAttended: Bool, inWindowOf room: AccountRoom) {
        if isAttended, attendedWindow != room {
            attendedWindow = room
        } else if !isAttended, attendedWindow == room {
            attendedWindow = nil
        }
    }

    /// Call this when a window becomes active, and when it closes. It remains in use while a dialog covers it, which
    /// may be a window of its own, and while another program is active.
    /// - Parameter room: the room of a window of its own; `nil` for the main window.
    public func noteUse(_ isInUse: Bool, ofWindowOf room: AccountRoom?) {
        if isInUse, windowInUse != room {
            windowInUse = room
        } else if !isInUse, windowInUse == room {
            windowInUse = nil
        }
    }

    /// The rooms whose messages the user sees, for the room list.
    public var seenRooms: SeenRooms {
        let isSelectionInWindow = if case .window = conversations.openItem { true } else { false }
        return SeenRooms(
            isSelectionSeen: isAttended && !isSelectionInWindow,
            inWindow: attendedWindow.flatMap { $0.account == selection ? $0.room : nil })
    }

    /// The room that the user is looking at, which does not notify; `nil` if there is none or no window is active.
    public var attendedRoom: DisplayedRoom? {
        if let attendedWindow { return DisplayedRoom(account: attendedWindow.account, room: attendedWindow.room) }
        return seenRooms.isSelectionSeen ? displayed : nil
    }
}
