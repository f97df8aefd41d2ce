public import Foundation

/// What a message may be searched for by besides its text.
public enum SearchContent: String, CaseIterable, Hashable, Sendable {
    case link
    /// Any attachment.
    case file
    case image, video, audio
}

/// What to look for in messages.
public struct SearchQuery: Equatable, Sendable {
    /// How the text is to be found.
    public enum Matching: Sendable {
        /// Each word as a word of the message, the last one as its beginning. Case and diacritics make no difference.
        case words
        /// The text as it stands, anywhere in the message, also within words. Case makes no difference.
        case substring
        /// As ``SearchTerms`` says: what is right while it is being typed.
        case terms
    }

    /// Empty for any text, which takes something else to look for.
    public var text: String
    public var matching: Matching
    /// By one of these only; nil for anyone.
    public var senders: Set<MemberID>?
    /// In these rooms only; nil for all.
    public var rooms: Set<RoomID>?
    /// Sent then or later.
    public var from: Date?
    /// Sent earlier.
    public var until: Date?
    /// All of which the messages have.
    public var contents: Set<SearchContent> = []
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
        senders = sender.map { [$0] }
        rooms = room.map { [$0] }
        self.limit = limit
        self.after = after
    }

    /// Whether it asks for nothing.
    public var isEmpty: Bool {
        text.allSatisfy(\.isWhitespace) && senders == nil && rooms == nil && hasNoFilter
    }

    /// Whether neither time nor content narrows it.
    public var hasNoFilter: Bool { from == nil && until == nil && contents.isEmpty }
}

/// A place in the results of a search: opaque, of use for the same query only.
public struct SearchCursor: Equatable, Sendable {
    public let rawValue: Int64
    /// Of the last one that was found: those after it, in the order of time, come next.
    public let position: SearchPosition?

    public init(rawValue: Int64, position: SearchPosition? = nil) {
        self.rawValue = rawValue
        self.position = position
    }
}

/// Where a message stands in the order of time; of two of the same moment the one that came later is later.
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

/// Messages that were found, those that were sent last first.
public struct SearchPage: Equatable, Sendable {
    public var messages: [Message]
    /// Who sent them, as the room of the latest knows them.
    public var senders: [MemberID: Member]
    /// Where to go on; nil if there is nothing more. A page may be empty and there be more nevertheless: so much is
    /// looked at for one.
    public var next: SearchCursor?

    public init(messages: [Message], senders: [MemberID: Member] = [:], next: SearchCursor?) {
        self.messages = messages
        self.senders = senders
        self.next = next
    }
}
