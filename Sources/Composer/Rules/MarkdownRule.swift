/// A Markdown delimiter that the composer can insert around or before text (SLK-28).
public struct MarkdownRule: Hashable, Sendable, Codable {
    /// What the rule does to a text. Decides on its style, shortcut and icon, whatever its title is. Raw values are the
    /// titles that a rule has by default; recorded traces contain them.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        case bold = "Bold"
        case italic = "Italic"
        case strikethrough = "Strike"
        case code = "Code"
        case codeBlock = "Code block"
        case quote = "Quote"
        case list = "List"
        case link = "Link"
    }

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

    /// `nil` for a rule of the host that is none of these.
    public var kind: Kind?
    public var symbol: String
    /// What ``ComposerEvent/format(_:)`` and ``ComposerState/formatting`` call the rule, and menus if it has no kind.
    public var title: String
    public var form: Form
    public var offer: Offer
    /// Whether the delimiter is inserted after the text as well, and closed by a double space (SLK-31).
    public var closes: Bool

    /// A rule of a known kind, by default with the kind's title.
    public init(
        _ kind: Kind, symbol: String, title: String? = nil, form: Form, offer: Offer = .always, closes: Bool? = nil
    ) {
        self.init(symbol: symbol, title: title ?? kind.rawValue, form: form, offer: offer, closes: closes)
        self.kind = kind
    }

    /// A rule of the host.
    public init(symbol: String, title: String, form: Form, offer: Offer = .always, closes: Bool? = nil) {
        self.symbol = symbol
        self.title = title
        self.form = form
        self.offer = offer
        self.closes = closes ?? (form == .pair || form == .fence)
    }

    /// The Markdown that Parlance sends: CommonMark with strikethrough.
    public static let commonMark: [MarkdownRule] = [
        MarkdownRule(.bold, symbol: "**", form: .pair),
        MarkdownRule(.italic, symbol: "_", form: .pair),
        MarkdownRule(.strikethrough, symbol: "~~", form: .pair),
        MarkdownRule(.code, symbol: "`", form: .pair),
        MarkdownRule(.codeBlock, symbol: "```", form: .fence),
        MarkdownRule(.quote, symbol: "> ", form: .linePrefix),
        MarkdownRule(.list, symbol: "- ", form: .linePrefix),
        MarkdownRule(.link, symbol: "[", form: .link),
    ]

    /// The delimiters of the SlackTextViewController sample, with its titles (SLK-28).
    public static let slack: [MarkdownRule] = [
        MarkdownRule(.bold, symbol: "*", form: .pair),
        MarkdownRule(.italic, symbol: "_", title: "Italics", form: .pair),
        MarkdownRule(.strikethrough, symbol: "~", form: .pair),
        MarkdownRule(.code, symbol: "`", form: .pair),
        MarkdownRule(.codeBlock, symbol: "```", title: "Preformatted", form: .fence),
        MarkdownRule(.quote, symbol: ">", form: .linePrefix, offer: .atLineStart),
    ]
}
