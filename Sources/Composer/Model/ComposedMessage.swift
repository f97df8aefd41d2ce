/// A message that the composer passes to the host.
public struct ComposedMessage: Hashable, Sendable {
    /// A part of the message (MIB-20).
    public enum Part: Hashable, Sendable {
        case text(WrittenText)
        case attachment(Attachment)
    }

    /// The identifier for the host's response; for an edit, the identifier of the edited message.
    public let id: String
    /// The text to send, without images, and trimmed if configured.
    public let text: WrittenText
    /// The text without images, untrimmed.
    public let raw: WrittenText
    /// The attachments, in the order of ``parts``.
    public let attachments: [Attachment]
    /// Text and attachments in reading order: images at their position in the text, separated by trimmed, non-empty
    /// text; attachments without a position last (MIB-20).
    public let parts: [Part]
    /// The message being replied to, unless it is gone.
    public let reply: ReplyTarget?
    /// Whether the text may be empty, as in an edit of a message with attachments.
    public let mayBeEmpty: Bool

    /// The identifier of the message being replied to.
    public var replyTo: String? { reply?.messageID }

    /// The mentions in ``text``.
    public var mentions: [WrittenText.Mark] { text.marks.filter { $0.mention != nil } }
}

extension ComposerDocument {
    func message(
        id: String, trimmed: Bool, attachments: [Attachment] = [], reply: ReplyTarget? = nil, mayBeEmpty: Bool = false
    ) -> ComposedMessage {
        let parts = images.isEmpty ? nil : partsByImages(attachments)
        let plain = images.isEmpty ? self : removingImages { _ in true }
        let text = trimmed ? plain.written(in: plain.trimmedRange, cutsMentions: true) : plain.written
        let files = parts?.compactMap { if case .attachment(let file) = $0 { file } else { nil } } ?? attachments
        return ComposedMessage(
            id: id, text: text, raw: plain.written, attachments: files,
            parts: parts ?? (text.source.isEmpty ? [] : [.text(text)]) + files.map { .attachment($0) },
            reply: reply?.preview == .gone ? nil : reply, mayBeEmpty: mayBeEmpty)
    }

    private func partsByImages(_ attachments: [Attachment]) -> [ComposedMessage.Part] {
        var remaining = attachments
        var parts: [ComposedMessage.Part] = []
        var start = 0
        func addText(upTo end: Int) {
            let text = written(in: trimmed(TextRange(start: start, end: end)), cutsMentions: true)
            if !text.source.isEmpty { parts.append(.text(text)) }
        }
        for span in images {
            addText(upTo: span.range.location)
            start = span.range.end
            guard let index = remaining.firstIndex(where: { $0.source == span.imageSource }) else { continue }
            parts.append(.attachment(remaining.remove(at: index)))
        }
        addText(upTo: length)
        return parts + remaining.map { .attachment($0) }
    }
}
