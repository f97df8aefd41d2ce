/// A message as the composer hands it to the host.
public struct ComposedMessage: Hashable, Sendable {
    /// A part of the message (MIB-20).
    public enum Part: Hashable, Sendable {
        case text(String)
        case attachment(Attachment)
    }

    /// What the host answers about; for an edit the identifier of the edited message.
    public let id: String
    /// The text to send: without pictures, and without white space at its ends if the configuration says so.
    public let text: String
    /// The text as it stood.
    public let rawText: String
    /// The mentions and styles, in ranges of ``text``.
    public let spans: [Span]
    /// In the order of ``parts``.
    public let attachments: [Attachment]
    /// Text and attachments in the order in which they are read: pictures where they stand in the text, pieces of text
    /// between them without white space at their ends and never empty, what has no place in the text last (MIB-20).
    public let parts: [Part]
    /// The message answered, unless it is gone.
    public let replyTo: String?

    /// The spans that are mentions.
    public var mentions: [Span] { spans.filter { $0.mention != nil } }
}

extension ComposerDocument {
    func message(id: String, trimmed: Bool, attachments: [Attachment], reply: ReplyTarget?) -> ComposedMessage {
        guard pictures.isEmpty else {
            return messageWithPictures(id: id, trimmed: trimmed, attachments: attachments, reply: reply)
        }
        let range = trimmed ? trimmedRange : TextRange(location: 0, length: length)
        let spans = spans.compactMap { span -> Span? in
            let start = max(span.range.location, range.location)
            let end = min(span.range.end, range.end)
            guard start < end else { return nil }
            var span = span
            span.range = TextRange(location: start - range.location, length: end - start)
            if let mention = span.mention {
                let text = text(in: TextRange(start: start, end: end))
                span.content = .mention(Mention(entityID: mention.entityID, text: text, short: mention.short))
            }
            return span
        }
        let reply = reply.flatMap { $0.preview == .gone ? nil : $0.messageID }
        let written = text(in: range)
        return ComposedMessage(
            id: id, text: written, rawText: text, spans: spans, attachments: attachments,
            parts: (written.isEmpty ? [] : [.text(written)]) + attachments.map { .attachment($0) }, replyTo: reply)
    }

    private func messageWithPictures(
        id: String, trimmed: Bool, attachments: [Attachment], reply: ReplyTarget?
    ) -> ComposedMessage {
        var left = attachments
        var parts: [ComposedMessage.Part] = []
        var start = 0
        func addText(upTo end: Int) {
            let piece = ComposerDocument(text(in: TextRange(start: start, end: end)))
            let text = piece.text(in: piece.trimmedRange)
            if !text.isEmpty { parts.append(.text(text)) }
        }
        for span in pictures {
            addText(upTo: span.range.location)
            start = span.range.end
            guard let place = left.firstIndex(where: { $0.source == span.picture }) else { continue }
            parts.append(.attachment(left.remove(at: place)))
        }
        addText(upTo: length)
        parts += left.map { .attachment($0) }
        let plain = removingPictures { _ in true }
            .message(id: id, trimmed: trimmed, attachments: attachments, reply: reply)
        let ordered = parts.compactMap { if case .attachment(let attachment) = $0 { attachment } else { nil } }
        return ComposedMessage(
            id: id, text: plain.text, rawText: plain.rawText, spans: plain.spans, attachments: ordered, parts: parts,
            replyTo: plain.replyTo)
    }
}
