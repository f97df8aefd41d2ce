/// Which keys send.
public enum SendKey: String, Hashable, Sendable, Codable, CaseIterable {
    /// Return sends, Shift+Return breaks the line; Ctrl+Return sends too (SLK-44).
    case `return`
    /// Ctrl+Return sends, Return breaks the line.
    case ctrlReturn
}

/// Everything that can be chosen about a composer. The defaults are Parlance's own. What is stored and read again
/// is what it was, every option of it (HKW-2).
public struct ComposerConfiguration: Hashable, Sendable, Codable {
    public var completion = CompletionOptions(rules: ComposerConfiguration.parlanceRules)
    /// How far the text area grows (SLK-4).
    public var maxLines = GrowthLimit.byWindowHeight
    public var insets = ComposerInsets()
    /// The most characters of a message; nil for any number, as for 0 and less (SLK-14, MCV-9).
    public var characterLimit: Int?
    public var limitPolicy = LimitPolicy.soft
    public var countUnit = CountUnit.graphemes
    public var counterStyle = CounterStyle.countdownReversed
    /// In the order in which menus list them; of several rules with one symbol the first counts (SLK-28).
    public var markdown = MarkdownRule.commonMark
    /// A second space closes an open symbol (SLK-31).
    public var doubleSpaceCloses = true
    /// A second space after a word becomes a full stop and a space (SLK-31).
    public var doubleSpacePeriod = false
    /// Quotes and lists go on in the next line, and end on an empty item (SLK-30).
    public var continuesLists = true
    /// The text leaves the composer when it is handed to the host; it comes back if sending fails.
    public var clearsOnSend = true
    /// Undo brings a sent text back.
    public var keepsUndoOnSend = true
    /// White space and line breaks at the ends are not sent.
    public var trimsSentText = true
    public var sendKey = SendKey.return
    public var undoDepth = 1000
    /// How long somebody else's name is shown as typing without being repeated; not positive for ever (SLK-40).
    public var typingTimeout = Duration.seconds(6)
    /// How long after the first change that was not written a draft is due, however long typing goes on; not
    /// positive writes at each change (SLK-39).
    public var draftDelay = Duration.milliseconds(500)
    /// A text of white space alone becomes empty when the composer loses the focus (MCV-6).
    public var clearsBlankOnBlur = false
    public var attachments = AttachmentLimits()
    public var typingPhrases = TypingPhrases()

    public init() {}

    /// Names of sets of options, each the habits of one composer.
    public enum Preset: String, Hashable, Sendable, Codable, CaseIterable {
        case parlance, slack, hakawai
        case hakawaiV2 = "hakawai-v2"
        case messageInputBar, messageComposerView
    }

    /// `@` and `#` at once, `:` from two letters, `/` at the start (SLK-66); the latter two leave plain text.
    static let parlanceRules = [
        CompletionRule(prefix: "@"), CompletionRule(prefix: "#"),
        CompletionRule(prefix: ":", minQuery: 2, spaces: 0, mentionTokens: false),
        CompletionRule(prefix: "/", position: .start, spaces: 0, mentionTokens: false),
    ]

    /// The limit in force, if there is one.
    var limit: Int? { characterLimit.flatMap { $0 > 0 ? $0 : nil } }

    /// The rule with this title or, failing that, this symbol; then without regard to case and outer spaces.
    public func markdownRule(named name: String) -> MarkdownRule? {
        let lower = name.lowercased().trimmingBlanks()
        return markdown.first { $0.title == name } ?? markdown.first { $0.symbol == name }
            ?? markdown.first { $0.title.lowercased() == lower || $0.symbol.trimmingBlanks() == lower }
    }
}
