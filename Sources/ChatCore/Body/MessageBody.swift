/// What a message says, parsed and free of anything that was not asked for: text blocks with styled runs.
///
/// The one form that messages are drawn, copied and sent in. Readers (`MessageMarkup`) make it from Markdown or HTML;
/// a body holds only allowed constructs, so whoever draws one needs no second check.
public struct MessageBody: Hashable, Sendable {
    /// The deepest nesting of quotes, lists, items, tables and details that readers make. As HTML, with paragraphs and
    /// styles, a body stays within the hundred elements that the Matrix specification allows.
    public static let maximumDepth = 80

    public var blocks: [BodyBlock]
    /// Something the sender does, "/me waves": drawn after the sender's name.
    public var isEmote: Bool

    public init(blocks: [BodyBlock] = [], isEmote: Bool = false) {
        self.blocks = blocks
        self.isEmote = isEmote
    }

    /// The text as it is, with no markup in it.
    public init(plain text: String, isEmote: Bool = false) {
        self.init(blocks: text.isEmpty ? [] : [.text(InlineText(text))], isEmote: isEmote)
    }

    /// The text, if the body is nothing but a paragraph of unstyled text: a label is enough to draw it.
    public var unstyledText: String? {
        if blocks.isEmpty { return "" }
        guard blocks.count == 1, case .text(let inline) = blocks[0], inline.runs.count == 1, !inline.runs[0].isFormatted
        else { return nil }
        return inline.runs[0].text
    }
}
