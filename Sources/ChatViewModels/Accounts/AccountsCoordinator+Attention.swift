extension AccountsCoordinator {
    /// Reports whether the open conversation is visible in the active window.
    public func attend(_ isAttended: Bool) {
        if isAttended != self.isAttended { self.isAttended = isAttended }
    }

    /// The room that the user is looking at, or `nil` if there is none or the window is not active. Nothing has to tell
    /// the user of its messages.
    public var attendedRoom: DisplayedRoom? { isAttended ? displayed : nil }
}
