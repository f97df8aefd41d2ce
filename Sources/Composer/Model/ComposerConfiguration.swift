/// The key that sends.
public enum SendKey: String, Hashable, Sendable, Codable, CaseIterable {
    /// Return sends, Shift+Return inserts a line break; Ctrl+Return sends as well (SLK-44).
    case `return`
    /// Ctrl+Return sends, Return inserts a line break.
    case ctrlReturn
}

/// The options of a composer. The defaults are Parlance's. Encoding round-trips every option (HKW-2).
public struct ComposerConfiguration: Hashable, Sendable, Codable {
    public var completion = CompletionOptions(rules: ComposerConfiguration.parlanceRules)
    /// The maximum height of the text area (SLK-4).
    public var maxLines = GrowthLimit.byWindowHeight
    public var insets = ComposerInsets()
    /// The maximum length of a message; no limit if `nil` or not positive (SLK-14, MCV-9).
    public var characterLimit: Int?
    public var limitPolicy = LimitPolicy.soft
    public var countUnit = CountUnit.graphemes
    public var counterStyle = CounterStyle.countdownReversed
    /// The Markdown rules in menu order; of several rules with the same symbol, the first wins (SLK-28).
    public var markdown = MarkdownRule.commonMark
    /// Whether a double space closes an open delimiter (SLK-31).
    public var doubleSpaceCloses = true
    /// Whether a double space after a word becomes a period and a space (SLK-31).
    public var doubleSpacePeriod = false
    /// Whether a new line continues a quote or list; an empty item ends it (SLK-30).
    public var continuesLists = true
    /// Whether sending clears the composer; the text returns if sending fails.
    public var clearsOnSend = true
    /// Whether undo restores a sent text.
    public var keepsUndoOnSend = true
    /// Whether to trim leading and trailing white space and line breaks of sent text.
    public var trimsSentText = true
    public var sendKey = SendKey.return
    public var undoDepth = 1000
    /// How long a user is shown as typing without renewal; no limit if not positive (SLK-40).
    public var typingTimeout = Duration.seconds(6)
    /// The delay from the first unsaved change until a draft is due, even if typing continues; 0 or less saves on
    /// each change (SLK-39).
    public var draftDelay = Duration.milliseconds(500)
    /// Whether a text of only white space is cleared when the composer loses focus (MCV-6).
    public var clearsBlankOnBlur = false
    public var attachments = AttachmentLimits()
    public var typingPhrases = TypingPhrases()

    public init() {}

    /// Named sets of options, each modeled after one composer.
    public enum Preset: String, Hashable, Sendable, Codable, CaseIterable {
        case parlance, slack, hakawai
        case hakawaiV2 = "hakawai-v2"
        case messageInputBar, messageComposerView
    }

    /// `@` and `#` open completion immediately, `:` from two letters, `/` at the start (SLK-66); the latter two
    /// insert plain text.
    static let parlanceRules = [
        CompletionRule(prefix: "@"), CompletionRule(prefix: "#"),
        CompletionRule(prefix: ":", minQuery: 2, spaces: 0, mentionTokens: false),
        CompletionRule(prefix: "/", position: .start, spaces: 0, mentionTokens: false),
    ]

    /// The effective limit, or `nil` without one.
    var limit: Int? { characterLimit.flatMap { $0 > 0 ? $0 : nil } }

    /// Returns the rule with this title or else this symbol, then ignoring case and surrounding white space.
    public func markdownRule(named name: String) -> MarkdownRule? {
        let lower = name.lowercased().trimmingBlanks()
        return markdown.first { $0.title == name } ?? markdown.first { $0.symbol == name }
            ?? markdown.first { $0.title.lowercased() == lower || $0.symbol.trimmingBlanks() == lower }
    }
}
