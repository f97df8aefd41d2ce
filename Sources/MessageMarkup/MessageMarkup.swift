public import ChatCore

/// Between the forms in which messages are written, sent and kept, and ``MessageBody``.
///
/// Every function may be called on any thread, belongs off the main one, and takes text of any length and form:
/// time and memory grow with the length and nothing else.
public enum MessageMarkup {
    /// Reads a message typed as Markdown.
    ///
    /// - Parameters:
    ///   - isEmote: whether it says what the sender does.
    ///   - names: who is recognised after an `@`.
    public static func body(
        markdown text: String, isEmote: Bool = false, names: MentionNames = MentionNames()
    ) -> MessageBody {
        if let body = plainBody(markdown: text, isEmote: isEmote) { return body }
        let source = MarkdownSource(text)
        guard let body = MarkdownParser.body(source, names: names, isEmote: isEmote) else {
            return self.body(plain: text, isEmote: isEmote)
        }
        // Marks around nothing, ">>", "||||" or "&nbsp;": the text itself says more.
        return body.isBlank ? MessageBody(plain: text, isEmote: isEmote) : body
    }

    /// The body of a message in which one look at each byte finds no markup: most are so, and need no other thread.
    public static func plainBody(markdown text: String, isEmote: Bool = false) -> MessageBody? {
        PlainScan.isPlain(text) ? MessageBody(plain: text, isEmote: isEmote) : nil
    }

    /// Reads the HTML of a message, from wherever it comes.
    public static func body(html: String, isEmote: Bool = false) -> MessageBody {
        HTMLParser.body(html, isEmote: isEmote, annotator: InlineAnnotator())
    }

    /// Reads text without markup: only addresses in it become links.
    public static func body(plain text: String, isEmote: Bool = false) -> MessageBody {
        guard !text.isEmpty else { return MessageBody(isEmote: isEmote) }
        let inline = InlineAnnotator().applied(to: InlineText(text))
        return MessageBody(blocks: [.text(inline)], isEmote: isEmote)
    }

    /// The same message in HTML with only what is allowed. Sanitising twice changes nothing more.
    public static func sanitized(html: String) -> String {
        HTMLWriter.html(of: body(html: html))
    }

    /// The body as HTML.
    public static func html(of body: MessageBody) -> String {
        HTMLWriter.html(of: body)
    }
}

extension MessageBody {
    /// Whether there is nothing to be seen in it.
    var isBlank: Bool { Self.isBlank(blocks) }

    private static func isBlank(_ blocks: [BodyBlock]) -> Bool {
        blocks.allSatisfy { block in
            switch block {
            case .text(let text), .heading(_, let text):
                text.runs.allSatisfy { $0.image == nil && $0.text.allSatisfy(\.isWhitespace) }
            case .quote(let blocks): isBlank(blocks)
            // A box, marks of items, lines.
            case .code, .list, .table, .rule, .details: false
            }
        }
    }
}
