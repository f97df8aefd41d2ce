public import ChatCore

/// A room as it was at one moment.
public struct RoomSnapshot: Equatable, Sendable {
    public var room: Room
    /// The newest messages.
    public var page: TimelinePage
    /// In the order they came; those who left are among them while their messages remain.
    public var members: [Member]
    /// The newest message read so far.
    public var fullyReadMarker: MessageID?
}
