/// A prefix that opens completion (SLK-17).
public struct CompletionRule: Hashable, Sendable, Codable {
    /// Where in the text the prefix counts.
    public enum Position: String, Hashable, Sendable, Codable, CaseIterable {
        case anywhere
        /// At the text's very start only.
        case start
    }

    public var prefix: String
    /// How many characters must follow the prefix.
    public var minQuery: Int
    public var position: Position
    /// What may stand before the prefix; nil takes ``CompletionOptions/boundary``.
    public var boundary: CompletionBoundary?
    /// How many spaces a query may hold; nil takes ``CompletionOptions/querySpaces``.
    public var spaces: Int?
    /// What acceptance inserts, with `{name}` for the entity's name; nil is the name behind the kept prefix.
    public var template: String?
    /// Nil takes ``CompletionOptions/keepPrefix``.
    public var keepPrefix: Bool?
    /// Nil takes ``CompletionOptions/mentionTokens``.
    public var mentionTokens: Bool?

    public init(
        prefix: String, minQuery: Int = 0, position: Position = .anywhere, boundary: CompletionBoundary? = nil,
        spaces: Int? = nil, template: String? = nil, keepPrefix: Bool? = nil, mentionTokens: Bool? = nil
    ) {
        self.prefix = prefix
        self.minQuery = minQuery
        self.position = position
        self.boundary = boundary
        self.spaces = spaces
        self.template = template
        self.keepPrefix = keepPrefix
        self.mentionTokens = mentionTokens
    }
}

/// What may stand before a prefix, beside the start of the text.
public enum CompletionBoundary: String, Hashable, Sendable, Codable, CaseIterable {
    case openPunctuation, whitespace, punctuation, notAlphanumeric, anywhere
}

/// What a query is made of.
public enum QueryExtent: String, Hashable, Sendable, Codable, CaseIterable {
    case caret, word, typed
}

/// What follows an accepted completion.
public enum AfterAccept: String, Hashable, Sendable, Codable, CaseIterable {
    case oneSpace, space, nothing, spaceAtParagraphEnd
}

/// What Backspace does at a mention.
public enum MentionBackspace: String, Hashable, Sendable, Codable, CaseIterable {
    case highlightTrimDelete, trimOrDelete, byParts, whole
}

/// What Backspace leaves of a mention that it trims.
public enum MentionTrim: String, Hashable, Sendable, Codable, CaseIterable {
    case short, firstWord, none
}

/// How completion and mentions behave.
public struct CompletionOptions: Hashable, Sendable, Codable {
    public var rules: [CompletionRule]
    public var boundary: CompletionBoundary
    public var queryExtent: QueryExtent
    /// Spaces that a query may hold while results match.
    public var querySpaces: Int
    /// Characters after which a word without prefix is looked up; 0 never (HKW-38).
    public var implicitLength: Int
    public var afterAccept: AfterAccept
    public var keepPrefix: Bool
    /// Whether completion leaves an atomic mention.
    public var mentionTokens: Bool
    public var mentionBackspace: MentionBackspace
    public var mentionTrim: MentionTrim
    /// Single characters that start mentions, beside the rules (HKW-35).
    public var controlCharacters: [String]
    /// HKW-42
    public var continueAfterEmpty: Bool
    /// Seconds between queries (HKW-47).
    public var resultsThrottle: Double
    /// Visible rows.
    public var rows: Int

    public init(
        rules: [CompletionRule] = [], boundary: CompletionBoundary = .openPunctuation,
        queryExtent: QueryExtent = .caret, querySpaces: Int = 2, implicitLength: Int = 0,
        afterAccept: AfterAccept = .oneSpace, keepPrefix: Bool = true, mentionTokens: Bool = true,
        mentionBackspace: MentionBackspace = .highlightTrimDelete, mentionTrim: MentionTrim = .short,
        controlCharacters: [String] = [], continueAfterEmpty: Bool = false, resultsThrottle: Double = 0.1, rows: Int = 8
    ) {
        self.rules = rules
        self.boundary = boundary
        self.queryExtent = queryExtent
        self.querySpaces = querySpaces
        self.implicitLength = implicitLength
        self.afterAccept = afterAccept
        self.keepPrefix = keepPrefix
        self.mentionTokens = mentionTokens
        self.mentionBackspace = mentionBackspace
        self.mentionTrim = mentionTrim
        self.controlCharacters = controlCharacters
        self.continueAfterEmpty = continueAfterEmpty
        self.resultsThrottle = resultsThrottle
        self.rows = rows
    }
}
