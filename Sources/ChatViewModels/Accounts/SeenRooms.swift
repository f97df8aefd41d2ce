public import ChatCore

/// The rooms of the displayed account that the user sees in an active window.
public nonisolated struct SeenRooms: Equatable, Sendable {
    /// Whether it is the selected room, in the main window.
    public var isSelectionSeen: Bool
    /// The room whose own window it is.
    public var inWindow: RoomID?

    public init(isSelectionSeen: Bool = false, inWindow: RoomID? = nil) {
        self.isSelectionSeen = isSelectionSeen
        self.inWindow = inWindow
    }
}
