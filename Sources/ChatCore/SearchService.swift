/// What to look for in messages.
public struct SearchQuery: Equatable, Sendable {
    /// How the text is to be found.
    public enum Matching: Sendable {
        /// Each word as a word of the message, the last one as its beginning: what is right while it is being typed.
        /// Case and diacritics make no difference.
        case words
        /// The text as it stands, anywhere in the message, also within words. Case makes no difference.
        case part
    }

    /// Empty for any text, which takes a sender or a room.
    public var text: String
    public var matching: Matching
    /// By one member only.
    public var sender: MemberID?
    /// In one room only.
    public var room: RoomID?
    /// At most this many are found, at most 1,000.
    public var limit: Int
    /// Where the page before ended.
    public var after: SearchCursor?

    public init(
        text: String = "", matching: Matching = .words, sender: MemberID? = nil, room: RoomID? = nil, limit: Int = 50,
        after: SearchCursor? = nil
    ) {
        self.text = text
        self.matching = matching
        self.sender = sender
        self.room = room
        self.limit = limit
        self.after = after
    }
}

/// A place in the results of a search: opaque, of use for the same query only.
public struct SearchCursor: Equatable, Sendable {
    public let rawValue: Int64

    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }
}

/// Messages that were found, those that came last first.
public struct SearchPage: Equatable, Sendable {
    public var messages: [Message]
    /// Where to go on; nil if there is nothing more.
    public var next: SearchCursor?

    public init(messages: [Message], next: SearchCursor?) {
        self.messages = messages
        self.next = next
    }
}

/// Finds messages.
public protocol SearchService: Sendable {
    /// The messages that match, the latest first. Deleted ones are not found, edited ones by their present text.
    ///
    /// - Throws: ``ChatError/storage(reason:)``. A query that asks for nothing finds nothing.
    func search(_ query: SearchQuery) async throws -> SearchPage
}
