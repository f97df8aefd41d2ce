import ChatCore
public import Composer
import MessageMarkup

/// The part of a message that is copied.
nonisolated struct CopiedMessage {
    var sender: String
    var text: String
    var body: MessageBody

    /// Copies the whole message.
    init(_ item: MessageItem) {
        sender = item.senderName
        text = item.text
        // Rows truncate long messages; copy the whole one instead.
        body = item.isShortened ? item.wholeBody : item.body
    }

    /// - Parameter range: in UTF-8 code units of ``MessageItem/selectableText``.
    init(_ item: MessageItem, in range: Range<Int>) {
        let selectable = item.selectableText
        if item.isShortened, range == 0..<selectable.utf8.count {
            self = CopiedMessage(item)
            return
        }
        sender = item.senderName
        text = String(
            selectable[selectable.characterIndex(range.lowerBound)..<selectable.characterIndex(range.upperBound)])
        body = item.body.excerpt(range, by: item.senderName)
    }

    /// The content, preceded by the sender's name.
    var blocks: [BodyBlock] {
        var first = InlineText([InlineRun("\(sender):", style: .bold), InlineRun(" ")])
        guard case .text(let content)? = body.blocks.first else { return [.text(first)] + body.blocks }
        first.append(content)
        return [.text(first)] + body.blocks.dropFirst()
    }
}

nonisolated extension MessageItem {
    /// The maximum size of the HTML that is parsed on the main thread, in bytes.
    private static let maxCopiedHTMLBytes = 65_536

    /// The body of the whole message; ``body`` is that of what a row displays. A text too long to be pasted with
    /// formatting has none.
    fileprivate var wholeBody: MessageBody {
        let isEmote = message.kind == .emote
        guard message.text.utf8.count <= ClipboardFragment.maxFormattedBytes, let formatted = formattedBody(isEmote),
            !formatted.blocks.isEmpty
        else { return MessageBody(plain: message.text, isEmote: isEmote) }
        return formatted
    }

    /// Prefers the source: the HTML was generated from it and may have lost information.
    private func formattedBody(_ isEmote: Bool) -> MessageBody? {
        if let written = message.written { return MessageMarkup.body(of: written, isEmote: isEmote) }
        guard let html = message.formattedText, html.utf8.count <= Self.maxCopiedHTMLBytes else { return nil }
        return MessageMarkup.body(html: html, isEmote: isEmote)
    }
}

nonisolated extension ClipboardFragment {
    /// Above this many bytes a pasted text has no formatting: serializing it takes too long on the main thread.
    fileprivate static let maxFormattedBytes = 32_768

    /// Copies one whole message.
    public init(copying item: MessageItem) {
        self.init([CopiedMessage(item)])
    }

    /// Copies several whole messages.
    init(copying items: [MessageItem]) {
        self.init(items.map { CopiedMessage($0) })
    }

    /// A single message is copied without its sender.
    init(_ copies: [CopiedMessage]) {
        let text =
            copies.count == 1 ? copies[0].text : copies.map { "\($0.sender): \($0.text)" }.joined(separator: "\n")
        let body = copies.count == 1 ? copies[0].body : MessageBody(blocks: copies.flatMap(\.blocks))
        let isLong = text.utf8.count > Self.maxFormattedBytes
        self.init(
            isLong ? WrittenText(text) : MessageMarkup.written(body: body).text, plainText: text,
            html: MessageMarkup.html(of: body))
    }
}
