/// A prefix that triggers completion (SLK-17).
public struct CompletionRule: Hashable, Sendable, Codable {
    /// Where in the text the prefix is recognized.
    public enum Position: String, Hashable, Sendable, Codable, CaseIterable {
        case anywhere
        /// Only at the start of the text.
        case start
    }

    public var prefix: String
    /// The minimum number of characters after the prefix.
    public var minQuery: Int
    public var position: Position
    /// What may precede the prefix; `nil` uses ``CompletionOptions/boundary``.
    public var boundary: CompletionBoundary?
    /// The maximum number of spaces in a query; `nil` uses ``CompletionOptions/querySpaces``.
    public var spaces: Int?
    /// The inserted text, with `{name}` for the name of the entity; `nil` inserts the prefix (if kept) and the name.
    public var template: String?
    /// Overrides ``CompletionOptions/keepPrefix``; `nil` uses it.
    public var keepPrefix: Bool?
    /// Overrides ``CompletionOptions/mentionTokens``; `nil` uses it.
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

/// What may precede a prefix, besides the start of the text.
public enum CompletionBoundary: String, Hashable, Sendable, Codable, CaseIterable {
    case openPunctuation, whitespace, punctuation, notAlphanumeric, anywhere
}

/// The extent of the query around the caret.
public enum QueryExtent: String, Hashable, Sendable, Codable, CaseIterable {
    case caret, word, typed
}

/// What acceptance inserts after the completion.
public enum AfterAccept: String, Hashable, Sendable, Codable, CaseIterable {
    case oneSpace, space, nothing, spaceAtParagraphEnd
}

/// The behavior of Backspace at a mention.
public enum MentionBackspace: String, Hashable, Sendable, Codable, CaseIterable {
    case highlightTrimDelete, trimOrDelete, byParts, whole
}

/// What remains of a mention that Backspace trims.
public enum MentionTrim: String, Hashable, Sendable, Codable, CaseIterable {
    case short, firstWord, none
}

/// Options of completion and mentions.
public struct CompletionOptions: Hashable, Sendable, Codable {
    public var rules: [CompletionRule]
    public var boundary: CompletionBoundary
    public var queryExtent: QueryExtent
    /// The maximum number of spaces in a query while there are results.
    public var querySpaces: Int
    /// The minimum length of a word that triggers completion without a prefix; 0 disables it (HKW-38).
    public var implicitLength: Int
    public var afterAccept: AfterAccept
    public var keepPrefix: Bool
    /// Whether acceptance inserts an atomic mention.
    public var mentionTokens: Bool
    public var mentionBackspace: MentionBackspace
    public var mentionTrim: MentionTrim
    /// Single-character prefixes in addition to the rules (HKW-35).
    public var controlCharacters: [String]
    /// Whether completion stays open after an empty first response (HKW-42).
    public var continueAfterEmpty: Bool
    /// The minimum interval between queries in seconds (HKW-47).
    public var resultsThrottle: Double
    /// The maximum number of visible rows.
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
