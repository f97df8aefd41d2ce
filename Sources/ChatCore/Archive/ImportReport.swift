/// What an import made, and what it left out.
public struct ImportReport: Equatable, Sendable {
    public struct Conversation: Equatable, Sendable {
        public var room: RoomID
        public var name: String
        public var messages: Int

        public init(room: RoomID, name: String, messages: Int) {
            self.room = room
            self.name = name
            self.messages = messages
        }
    }

    /// Something that was not brought in, or not as it was.
    public enum SkippedItem: Hashable, Sendable {
        /// Somebody joined, a photo was changed, and the like.
        case event(String)
        /// A message of a kind that is not known.
        case unknownKind(String)
        /// A value of another type than it should be, by its name.
        case wrongType(String)
        /// A message without what makes one, such as a time.
        case incomplete(String)
        /// A line of a text that belongs to no message.
        case strayLine
        /// A reaction by people who are not named, or to a message that is not there.
        case reaction
        /// An edit of a message that is not there, or by another than who sent it.
        case edit
        /// A file that is not among what was exported, or too large.
        case missingFile
        case tooLong
    }

    public var conversations: [Conversation]
    /// How often each was met.
    public var skippedItems: [SkippedItem: Int]
    public var files: Int

    public init(conversations: [Conversation] = [], skippedItems: [SkippedItem: Int] = [:], files: Int = 0) {
        self.conversations = conversations
        self.skippedItems = skippedItems
        self.files = files
    }

    public var messages: Int { conversations.reduce(0) { $0 + $1.messages } }
}
