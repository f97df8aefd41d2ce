public import Composer

/// A message as its author wrote it. Drafts, outbox, store, edits, forwards, clipboard and exports all use this type;
/// conversion to wire and export formats happens at the boundary.
public struct WrittenMessage: Hashable, Sendable, Codable {
    /// The version that this code encodes.
    public static let currentVersion = 1

    /// How the message was created.
    public enum Origin: String, Hashable, Sendable, Codable {
        case composed, command, forwarded, imported
        /// Written in a notification instead of the room's composer.
        case notification
    }

    /// The message that it replies to.
    public struct Reply: Hashable, Sendable, Codable {
        public var message: MessageID
        /// The author of that message, to be mentioned, if known.
        public var author: MemberID?

        public init(to message: MessageID, by author: MemberID? = nil) {
            self.message = message
            self.author = author
        }
    }

    public private(set) var version = Self.currentVersion
    public var text: WrittenText
    public var kind: Message.Kind
    /// The attachments in order. Local ones are referred to by digest instead of path.
    public var files: [MediaReference]
    public var reply: Reply?
    public var origin: Origin

    public init(
        _ text: WrittenText, kind: Message.Kind = .text, files: [MediaReference] = [], reply: Reply? = nil,
        origin: Origin = .composed
    ) {
        self.text = text
        self.kind = kind
        self.files = files
        self.reply = reply
        self.origin = origin
    }

    /// Throws for data of a later version, instead of sending an incomplete message.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let version = try container.decode(Int.self, forKey: .version)
        guard version == Self.currentVersion else {
            throw DecodingError.dataCorruptedError(
                forKey: .version, in: container, debugDescription: "another version's")
        }
        self.init(
            try container.decode(WrittenText.self, forKey: .text),
            kind: try container.decode(Message.Kind.self, forKey: .kind),
            files: try container.decode([MediaReference].self, forKey: .files),
            reply: try container.decodeIfPresent(Reply.self, forKey: .reply),
            origin: try container.decode(Origin.self, forKey: .origin))
    }

    /// Whether it was written in the room's composer, so that sending it removes the draft.
    public var removesDraft: Bool { origin == .composed || origin == .command }
}
