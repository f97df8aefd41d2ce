public import ChatCore

/// The rooms of the displayed account whose messages are visible in an active window.
public nonisolated struct SeenRooms: Equatable, Sendable {
    /// Whether the selected room is visible in the main window.
    public var isSelectionSeen: Bool
    /// The room whose own window is active.
    public var inWindow: RoomID?

    public init(isSelectionSeen: Bool = false, inWindow: RoomID? = nil) {
        self.isSelectionSeen = isSelectionSeen
        self.inWindow = inWindow
    }
}
