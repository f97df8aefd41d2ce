public import Composer

/// A message as its author made it: the one value that drafts, outbox, store, edits, forwards, clipboard and exports hold.
/// What a server or another program gets is made of it at the border.
public struct WrittenMessage: Hashable, Sendable, Codable {
    /// The version that this code writes.
    public static let currentVersion = 1

    /// How it came to be.
    public enum Origin: String, Hashable, Sendable, Codable {
        case composed, command, forwarded, imported
    }

    /// The message that it answers.
    public struct Reply: Hashable, Sendable, Codable {
        public var message: MessageID
        /// Who wrote that one, to be notified; nil where it is not known.
        public var author: MemberID?

        public init(to message: MessageID, by author: MemberID? = nil) {
            self.message = message
            self.author = author
        }
    }

    public private(set) var version = Self.currentVersion
    public var text: WrittenText
    public var kind: Message.Kind
    /// In their order. One that is kept here is named by its digest, not by where it lies.
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

    /// Throws on what a later version wrote: half of it would be sent.
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

    /// Whether it was in the room's composer, whose draft goes with it.
    public var removesDraft: Bool { origin == .composed || origin == .command }
}
