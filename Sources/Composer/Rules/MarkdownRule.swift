/// A Markdown delimiter that the composer can insert around or before text (SLK-28).
public struct MarkdownRule: Hashable, Sendable, Codable {
    /// The placement of the delimiter.
    public enum Form: String, Hashable, Sendable, Codable {
        /// Before and after the text: `**bold**`.
        case pair
        /// Before each line: `> quote`.
        case linePrefix
        /// On separate lines before and after the text.
        case fence
        /// `[text](address)`.
        case link
    }

    /// When to offer the rule for a selection (SLK-30).
    public enum Offer: String, Hashable, Sendable, Codable {
        case always
        /// Only if the selection starts a line.
        case atLineStart
    }

    public var symbol: String
    /// The name in menus, also accepted by ``ComposerEvent/format(_:)``.
    public var title: String
    public var form: Form
    public var offer: Offer
    /// Whether the delimiter is inserted after the text as well, and closed by a double space (SLK-31).
    public var closes: Bool

    public init(symbol: String, title: String, form: Form, offer: Offer = .always, closes: Bool? = nil) {
        self.symbol = symbol
        self.title = title
        self.form = form
        self.offer = offer
        self.closes = closes ?? (form == .pair || form == .fence)
    }

    /// The Markdown that Parlance sends: CommonMark with strikethrough.
    public static let commonMark: [MarkdownRule] = [
        MarkdownRule(symbol: "**", title: "Bold", form: .pair),
        MarkdownRule(symbol: "_", title: "Italic", form: .pair),
        MarkdownRule(symbol: "~~", title: "Strike", form: .pair),
        MarkdownRule(symbol: "`", title: "Code", form: .pair),
        MarkdownRule(symbol: "```", title: "Code block", form: .fence),
        MarkdownRule(symbol: "> ", title: "Quote", form: .linePrefix),
        MarkdownRule(symbol: "- ", title: "List", form: .linePrefix),
        MarkdownRule(symbol: "[", title: "Link", form: .link),
    ]

    /// The delimiters of the SlackTextViewController sample (SLK-28).
    public static let slack: [MarkdownRule] = [
        MarkdownRule(symbol: "*", title: "Bold", form: .pair),
        MarkdownRule(symbol: "_", title: "Italics", form: .pair),
        MarkdownRule(symbol: "~", title: "Strike", form: .pair),
        MarkdownRule(symbol: "`", title: "Code", form: .pair),
        MarkdownRule(symbol: "```", title: "Preformatted", form: .fence),
        MarkdownRule(symbol: ">", title: "Quote", form: .linePrefix, offer: .atLineStart),
    ]
}
