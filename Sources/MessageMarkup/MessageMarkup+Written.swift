public import ChatCore
public import Composer

extension MessageMarkup {
    /// Parses a text that the user wrote. Mentions are text whatever their characters; a typed name without a mark
    /// mentions nobody. File marks are omitted.
    ///
    /// - Parameter isEmote: Whether the message is an emote.
    public static func body(of text: WrittenText, isEmote: Bool = false) -> MessageBody {
        switch text.syntax {
        case .plain: return plainBody(of: WrittenSegments(text), isEmote)
        case .markdown:
            guard !text.marks.isEmpty else { return body(markdown: text.source, isEmote: isEmote) }
            let segments = WrittenSegments(text)
            let body = MarkdownSource(segments).flatMap { MarkdownParser.body($0, isEmote: isEmote) }
            // Empty markup such as ">>", "||||" or "&nbsp;" is displayed as typed.
            guard let body, !body.isBlank else { return plainBody(of: segments, isEmote) }
            return body
        }
    }

    /// Returns the HTML of a text to send, or `nil` if ``plainText(of:)`` is equivalent.
    ///
    /// Mentions of users and rooms become `matrix.to` links, those of rooms with `via` servers. `@room` is text,
    /// because `m.mentions` represents it. Mentions without an address are text as well.
    public static func html(of text: WrittenText) -> String? {
        let body = body(of: text)
        return body.markupFreeText == nil ? HTMLWriter.html(of: body) : nil
    }

    /// Returns the plain-text fallback (`body`): the source as typed if it has markup, else the text with escapes
    /// resolved.
    public static func plainText(of text: WrittenText) -> String {
        if let plain = body(of: text).markupFreeText { return plain }
        return WrittenSegments(text).segments.reduce(into: "") { $0 += $1.text }
    }

    /// Converts a received message to editable text: Markdown, with marks for mentions and for what Markdown cannot
    /// express. Apart from the losses, ``html(of:)`` of the result is equivalent.
    ///
    /// - Parameters:
    ///   - html: HTML of any client.
    ///   - mentionsEveryone: Whether `@room` in the text mentions everyone, from `m.mentions`.
    /// - Returns: The text, and what it cannot express.
    public static func written(
        html: String, mentionsEveryone: Bool = false
    ) -> (text: WrittenText, losses: [MarkupLoss]) {
        MarkdownWriter.written(body(html: html), mentionsEveryone: mentionsEveryone)
    }

    /// Converts a message without HTML to editable text, with markup characters escaped.
    ///
    /// - Returns: The text, and what it cannot express.
    public static func written(
        plain: String, mentionsEveryone: Bool = false
    ) -> (text: WrittenText, losses: [MarkupLoss]) {
        MarkdownWriter.written(body(plain: plain), mentionsEveryone: mentionsEveryone)
    }

    /// Converts a body to editable text, for editing or pasting.
    public static func written(body: MessageBody) -> (text: WrittenText, losses: [MarkupLoss]) {
        MarkdownWriter.written(body)
    }

    private static func plainBody(of segments: WrittenSegments, _ isEmote: Bool) -> MessageBody {
        let inline = InlineAnnotator().applied(to: segments.inline)
        return MessageBody(blocks: inline.isEmpty ? [] : [.text(inline)], isEmote: isEmote)
    }

}

extension MessageBody {
    /// The text, if HTML would add nothing. A mention without an address is plain text in HTML.
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
