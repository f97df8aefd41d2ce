import ChatCore
import Composer
import MessageMarkup

extension ExportedMessage {
    /// The body as the application displays it, with the same sanitizing, except that names after an `@` are text.
    var body: MessageBody {
        let formatted =
            message.written.map { MessageMarkup.body(of: $0) }
            ?? message.formattedText.map { MessageMarkup.body(html: $0) }
        // HTML may have nothing to display, although the text has.
        if let formatted, !formatted.blocks.isEmpty { return formatted }
        return isMarkdown ? MessageMarkup.body(markdown: message.text) : MessageMarkup.body(plain: message.text)
    }

    /// The body as Markdown. A text that is Markdown and has no marks is returned as typed, except link destinations
    /// in angle brackets: an export escapes each `<`, which would be part of them.
    var markdown: String {
        guard let typed = typedMarkdown else { return PortableMarkdown.source(of: body) }
        guard let portable = MarkdownDestination.withoutBrackets(typed) else { return typed }
        // What looks like a destination may be code.
        let isSame = MessageMarkup.body(markdown: portable) == MessageMarkup.body(markdown: typed)
        return isSame ? portable : PortableMarkdown.source(of: body)
    }

    private var typedMarkdown: String? {
        if let written = message.written {
            return written.syntax == .markdown && written.marks.isEmpty ? written.source : nil
        }
        return message.formattedText == nil && isMarkdown ? message.text : nil
    }
}
