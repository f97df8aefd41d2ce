/// A message as the composer hands it to the host.
public struct ComposedMessage: Hashable, Sendable {
    /// A part of the message (MIB-20).
    public enum Part: Hashable, Sendable {
        case text(String)
        case attachment(Attachment)
    }

    /// What the host answers about; for an edit the identifier of the edited message.
    public let id: String
    /// The text to send: without white space at its ends if the configuration says so.
    public let text: String
    /// The text as it stood.
    public let rawText: String
    /// The mentions and styles, in ranges of ``text``.
    public let spans: [Span]
    public let attachments: [Attachment]
    /// The message answered, unless it is gone.
    public let replyTo: String?

    /// The spans that are mentions.
    public var mentions: [Span] { spans.filter { $0.mention != nil } }

    /// The text, if there is any, and then the attachments.
    public var parts: [Part] {
        (text.isEmpty ? [] : [.text(text)]) + attachments.map(Part.attachment)
    }
}

extension ComposerDocument {
    func message(id: String, trimmed: Bool, attachments: [Attachment], reply: ReplyTarget?) -> ComposedMessage {
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
        return ComposedMessage(
            id: id, text: text(in: range), rawText: text, spans: spans, attachments: attachments, replyTo: reply)
    }
}
