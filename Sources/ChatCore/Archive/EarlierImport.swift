/// A conversation in an import that was imported before.
public struct EarlierImport: Equatable, Sendable {
    /// The staged room that it is being imported into.
    public var staged: RoomID
    /// The room created by the earlier import.
    public var room: RoomID
    /// The current name of that room.
    public var name: String
    /// The number of messages that the room does not have.
    public var newMessages: Int

    public init(staged: RoomID, room: RoomID, name: String, newMessages: Int) {
        self.staged = staged
        self.room = room
        self.name = name
        self.newMessages = newMessages
    }
}

/// What to do with conversations that were imported before.
public enum RepeatedImport: Equatable, Sendable {
    /// Add missing messages to the existing rooms, which otherwise stay unchanged.
    case merge
    /// Create additional rooms.
    case newRooms
}

/// A completely imported conversation.
public struct FinishedImport: Equatable, Sendable {
    /// The staged room.
    public var staged: RoomID
    /// The name of the room to show.
    public var name: String
    /// The room that the messages are merged into; `nil` to show the staged room itself.
    public var mergedInto: RoomID?

    public init(staged: RoomID, name: String, mergedInto: RoomID? = nil) {
        self.staged = staged
        self.name = name
        self.mergedInto = mergedInto
    }
}
