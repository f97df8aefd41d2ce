public import ChatCore

/// The state of a room at one moment.
public struct RoomSnapshot: Equatable, Sendable {
    public var room: Room
    /// The newest messages.
    public var page: TimelinePage
    /// In the order they joined, including former members.
    public var members: [Member]
    /// The last message that the user has read.
    public var fullyReadMarker: MessageID?
}
