public import ChatCore

/// Converts between the written, sent and stored forms of messages and ``MessageBody``.
///
/// All functions are thread-safe, should run off the main thread, and accept text of any length and form in linear time
/// and memory.
public enum MessageMarkup {
    /// Parses Markdown.
    ///
    /// - Parameters:
    ///   - isEmote: Whether the message is an emote.
    ///   - names: Members who are recognized after an `@`.
    public static func body(
        markdown text: String, isEmote: Bool = false, names: MentionNames = MentionNames()
    ) -> MessageBody {
        if let body = plainBody(markdown: text, isEmote: isEmote) { return body }
        let source = MarkdownSource(text)
        guard let body = MarkdownParser.body(source, names: names, isEmote: isEmote) else {
            return self.body(plain: text, isEmote: isEmote)
        }
        // Empty markup such as ">>", "||||" or "&nbsp;" is displayed as typed.
        return body.isBlank ? MessageBody(plain: text, isEmote: isEmote) : body
    }

    /// Returns the body of a text without markup, or `nil` if it may have some. Fast enough for the main thread.
    public static func plainBody(markdown text: String, isEmote: Bool = false) -> MessageBody? {
        PlainScan.isPlain(text) ? MessageBody(plain: text, isEmote: isEmote) : nil
    }

    /// Parses untrusted HTML.
    public static func body(html: String, isEmote: Bool = false) -> MessageBody {
        HTMLParser.body(html, isEmote: isEmote, annotator: InlineAnnotator())
    }

    /// Creates the body of plain text, in which only URLs become links.
    public static func body(plain text: String, isEmote: Bool = false) -> MessageBody {
        guard !text.isEmpty else { return MessageBody(isEmote: isEmote) }
        let inline = InlineAnnotator().applied(to: InlineText(text))
        return MessageBody(blocks: [.text(inline)], isEmote: isEmote)
    }

    /// Returns the HTML with only allowed elements and attributes. Sanitizing is idempotent.
    public static func sanitized(html: String) -> String {
        HTMLWriter.html(of: body(html: html))
    }

    /// Returns a body as HTML.
    public static func html(of body: MessageBody) -> String {
        HTMLWriter.html(of: body)
    }
}

extension MessageBody {
    /// Whether the body has nothing visible.
    var isBlank: Bool { Self.isBlank(blocks) }

    private static func isBlank(_ blocks: [BodyBlock]) -> Bool {
        blocks.allSatisfy { block in
            switch block {
            case .text(let text), .heading(_, let text):
                text.runs.allSatisfy { $0.image == nil && $0.text.allSatisfy(\.isWhitespace) }
            case .quote(let blocks): isBlank(blocks)
            // Code boxes, list markers, table borders and rules are visible even when empty.
            case .code, .list, .table, .rule, .details: false
            }
        }
    }
}
