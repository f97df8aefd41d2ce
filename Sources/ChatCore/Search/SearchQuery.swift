public import Foundation

/// The content that a message search can be limited to.
public enum SearchContent: String, CaseIterable, Hashable, Sendable {
    case link
    /// Any attachment.
    case file
    case image, video, audio
}

/// A message search.
public struct SearchQuery: Equatable, Sendable {
    /// How the text is matched.
    public enum Matching: Sendable {
        /// Whole words, the last one as a prefix. Ignores case and diacritics.
        case words
        /// A substring anywhere in the message. Ignores case.
        case substring
        /// As in ``SearchTerms``; suitable for search as you type.
        case terms
    }

    /// The text to search for. If empty, only the other criteria apply.
    public var text: String
    public var matching: Matching
    /// Limits the search to these senders; `nil` for anyone.
    public var senders: Set<MemberID>?
    /// Limits the search to these rooms; `nil` for all.
    public var rooms: Set<RoomID>?
    /// The earliest send time, inclusive.
    public var from: Date?
    /// The latest send time, exclusive.
    public var until: Date?
    /// The kinds of content that messages must have, all of them.
    public var contents: Set<SearchContent> = []
    /// The maximum number of results on a page, up to 1,000.
    public var limit: Int
    /// The end of the previous page.
    public var after: SearchCursor?

    public init(
        text: String = "", matching: Matching = .words, sender: MemberID? = nil, room: RoomID? = nil, limit: Int = 50,
        after: SearchCursor? = nil
    ) {
        self.text = text
        self.matching = matching
        senders = sender.map { [$0] }
        rooms = room.map { [$0] }
        self.limit = limit
        self.after = after
    }

    /// Whether the query has no criteria.
    public var isEmpty: Bool {
        text.allSatisfy(\.isWhitespace) && senders == nil && rooms == nil && hasNoFilter
    }

    /// Whether neither time nor content limits the search.
    public var hasNoFilter: Bool { from == nil && until == nil && contents.isEmpty }
}

/// An opaque position in the results of a search, valid only for the same query.
public struct SearchCursor: Equatable, Sendable {
    public let rawValue: Int64
    /// The position of the last result: the next page has only older ones.
    public let position: SearchPosition?

    public init(rawValue: Int64, position: SearchPosition? = nil) {
        self.rawValue = rawValue
        self.position = position
    }
}

/// A message's position in chronological order; the arrival breaks ties.
public struct SearchPosition: Comparable, Sendable {
    /// Milliseconds since 1970.
    public let sentAt: Int64
    public let arrival: Int64

    public init(sentAt: Int64, arrival: Int64) {
        self.sentAt = sentAt
        self.arrival = arrival
    }

    public static func < (first: Self, second: Self) -> Bool {
        (first.sentAt, first.arrival) < (second.sentAt, second.arrival)
    }
}

/// A page of results, latest first.
public struct SearchPage: Equatable, Sendable {
    public var messages: [Message]
    /// The senders, as members of the room of their latest message.
    public var senders: [MemberID: Member]
    /// The cursor for the next page, or `nil` at the end. A page can be empty without being the last, since each
    /// examines a limited number of messages.
    public var next: SearchCursor?

    public init(messages: [Message], senders: [MemberID: Member] = [:], next: SearchCursor?) {
        self.messages = messages
        self.senders = senders
        self.next = next
    }
}
