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
        // Rows truncate long messages; copy the full text instead.
        body = item.isShortened ? MessageBody(plain: item.text) : item.body
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

nonisolated extension ClipboardFragment {
    /// Above this many bytes a pasted text has no formatting: serializing it takes too long on the main thread.
    private static let maxFormattedBytes = 32_768

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
