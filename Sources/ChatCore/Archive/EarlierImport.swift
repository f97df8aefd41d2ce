/// A conversation that is being imported and was imported before.
public struct EarlierImport: Equatable, Sendable {
    /// The room that it is being imported into, which nobody sees yet.
    public var staged: RoomID
    /// The room that was made of it.
    public var room: RoomID
    /// What that room is called by now.
    public var name: String
    /// Messages that it does not have.
    public var newMessages: Int

    public init(staged: RoomID, room: RoomID, name: String, newMessages: Int) {
        self.staged = staged
        self.room = room
        self.name = name
        self.newMessages = newMessages
    }
}

/// What becomes of conversations that were imported before.
public enum RepeatedImport: Equatable, Sendable {
    /// Their rooms get the messages that they do not have. What is there stays as it is.
    case merge
    /// They become rooms beside those.
    case newRooms
}

/// An imported conversation on its way out of hiding.
public struct FinishedImport: Equatable, Sendable {
    /// The room that nobody sees yet.
    public var staged: RoomID
    /// What it is to be called.
    public var name: String
    /// The room that gets its messages instead.
    public var mergedInto: RoomID?

    public init(staged: RoomID, name: String, mergedInto: RoomID? = nil) {
        self.staged = staged
        self.name = name
        self.mergedInto = mergedInto
    }
}
