/// A parsed and sanitized message body: text blocks with styled runs.
///
/// The common form for display, copying and sending. The parsers (`MessageMarkup`) create it from Markdown or HTML. It
/// contains only allowed constructs, so no further sanitizing is needed.
public struct MessageBody: Hashable, Sendable {
    /// The maximum nesting of quotes, lists, items, tables and details that parsers create. Serialized as HTML,
    /// including paragraphs and styles, a body stays below the 100 nested elements that the Matrix specification
    /// allows.
    public static let maxDepth = 80

    public var blocks: [BodyBlock]
    /// An action such as "/me waves", shown after the sender's name.
    public var isEmote: Bool

    public init(blocks: [BodyBlock] = [], isEmote: Bool = false) {
        self.blocks = blocks
        self.isEmote = isEmote
    }

    /// Creates a body of plain text.
    public init(plain text: String, isEmote: Bool = false) {
        self.init(blocks: text.isEmpty ? [] : [.text(InlineText(text))], isEmote: isEmote)
    }

    /// The text of a body that consists of a single unformatted paragraph, which a plain label can show; otherwise
    /// `nil`.
    public var unstyledText: String? {
        if blocks.isEmpty { return "" }
        guard blocks.count == 1, case .text(let inline) = blocks[0], inline.runs.count == 1, !inline.runs[0].isFormatted
        else { return nil }
        return inline.runs[0].text
    }
}
