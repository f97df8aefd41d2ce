/// The result of an import, including what was skipped.
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

    /// Something that was not imported, or not exactly.
    public enum SkippedItem: Hashable, Sendable {
        /// An event such as a join or a changed photo.
        case event(String)
        /// A message of an unknown kind.
        case unknownKind(String)
        /// A value of the wrong type, by its name.
        case wrongType(String)
        /// A message without a required value, such as its time.
        case incomplete(String)
        /// A line of a text export that belongs to no message.
        case strayLine
        /// A reaction by unnamed people, or to an unknown message.
        case reaction
        /// An edit of an unknown message, or by someone other than its sender.
        case edit
        /// A file that is missing from the export, or too large.
        case missingFile
        case tooLong
    }

    public var conversations: [Conversation]
    /// The number of occurrences of each.
    public var skippedItems: [SkippedItem: Int]
    public var files: Int

    public init(conversations: [Conversation] = [], skippedItems: [SkippedItem: Int] = [:], files: Int = 0) {
        self.conversations = conversations
        self.skippedItems = skippedItems
        self.files = files
    }

    public var messages: Int { conversations.reduce(0) { $0 + $1.messages } }
}
