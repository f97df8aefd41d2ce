public import ChatCore
public import Composer

extension MessageMarkup {
    /// Reads what a user wrote. A mention is text whatever its characters are, and means whom it means; a name that is
    /// only typed means nobody. The places of files are left out.
    ///
    /// - Parameter isEmote: whether it says what the sender does.
    public static func body(of text: WrittenText, isEmote: Bool = false) -> MessageBody {
        switch text.syntax {
        case .plain: return plainBody(of: WrittenSegments(text), isEmote)
        case .markdown:
            guard !text.marks.isEmpty else { return body(markdown: text.source, isEmote: isEmote) }
            let segments = WrittenSegments(text)
            let body = MarkdownSource(segments).flatMap { MarkdownParser.body($0, isEmote: isEmote) }
            // Marks around nothing, ">>", "||||" or "&nbsp;": the text itself says more.
            guard let body, !body.isBlank else { return plainBody(of: segments, isEmote) }
            return body
        }
    }

    /// What a user wrote as HTML to send; nil if ``plainText(of:)`` says all there is, and HTML would add nothing.
    ///
    /// Members and rooms are links to `matrix.to`, rooms with the servers that know them; everyone is text, as
    /// `m.mentions` says that. Who is only known on this computer is text too.
    public static func html(of text: WrittenText) -> String? {
        let body = body(of: text)
        return body.markupFreeText == nil ? HTMLWriter.html(of: body) : nil
    }

    /// What a user wrote for programs that show no HTML: as it was typed where it has markup, with the text of mentions
    /// as it stands; otherwise as it reads, with escapes resolved.
    public static func plainText(of text: WrittenText) -> String {
        if let plain = body(of: text).markupFreeText { return plain }
        return WrittenSegments(text).segments.reduce(into: "") { $0 += $1.text }
    }

    /// A received message as a text to edit: Markdown, where that can say it, and marks for pills and for what Markdown
    /// has no signs for. Written again with ``html(of:)`` it says the same but for the losses.
    ///
    /// - Parameters:
    ///   - html: from any program.
    ///   - mentionsEveryone: whether `@room` in it notifies everyone, as `m.mentions` says.
    /// - Returns: the text, and what it can't say, each once.
    public static func written(
        html: String, mentionsEveryone: Bool = false
    ) -> (text: WrittenText, losses: [MarkupLoss]) {
        MarkdownWriter.written(body(html: html), mentionsEveryone: mentionsEveryone)
    }

    /// A message without markup as a text to edit: what would be read as markup is escaped.
    ///
    /// - Returns: the text, and what it can't say, each once.
    public static func written(
        plain: String, mentionsEveryone: Bool = false
    ) -> (text: WrittenText, losses: [MarkupLoss]) {
        MarkdownWriter.written(body(plain: plain), mentionsEveryone: mentionsEveryone)
    }

    /// A body as a text to edit or paste, in the same way.
    public static func written(body: MessageBody) -> (text: WrittenText, losses: [MarkupLoss]) {
        MarkdownWriter.written(body)
    }

    private static func plainBody(of segments: WrittenSegments, _ isEmote: Bool) -> MessageBody {
        let inline = InlineAnnotator().applied(to: segments.inline)
        return MessageBody(blocks: inline.isEmpty ? [] : [.text(inline)], isEmote: isEmote)
    }

}

extension MessageBody {
    /// The text, if HTML would have no more than that: a mention without an address is only text in HTML.
    fileprivate var markupFreeText: String? {
        if blocks.isEmpty { return "" }
        guard blocks.count == 1, case .text(let inline) = blocks[0] else { return nil }
        for run in inline.runs {
            var bare = run
            if bare.mention?.link == nil { bare.mention = nil }
            if bare.isFormatted { return nil }
        }
        return inline.text
    }
}
