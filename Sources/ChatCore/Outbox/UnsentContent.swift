/// What the user had written in a room and not sent when they were removed from it, or left it elsewhere.
public struct UnsentContent: Equatable, Sendable {
    public let room: RoomID
    /// In the order in which they were sent.
    public let messages: [WrittenMessage]
    public let draft: SavedDraft?

    public init(room: RoomID, messages: [WrittenMessage], draft: SavedDraft?) {
        self.room = room
        self.messages = messages
        self.draft = draft
    }
}
