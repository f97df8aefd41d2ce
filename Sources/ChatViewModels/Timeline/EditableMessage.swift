import ChatCore
public import Composer
public import MessageMarkup

/// The editable source of a stored message.
public nonisolated struct EditableMessage: Equatable, Sendable {
    public var text: WrittenText
    /// The formatting lost on saving because Markdown cannot express it.
    public var losses: [MarkupLoss]
    /// Whether the text may be empty, as in a message with attachments.
    public var mayBeEmpty: Bool

    public init(_ text: WrittenText, losses: [MarkupLoss] = [], mayBeEmpty: Bool = false) {
        self.text = text
        self.losses = losses
        self.mayBeEmpty = mayBeEmpty
    }

    /// Uses the text of a rejected edit, or the stored source if there is one, and otherwise converts the message's HTML.
    ///
    /// - Parameters:
    ///   - body: the body parsed from the message's text.
    ///   - readsPlainTexts: see ``BackendCapabilities/plainTexts``.
    init(_ message: Message, body: MessageBody, readsPlainTexts: Bool = false) {
        mayBeEmpty = !message.attachments.isEmpty
        if let rejected = message.pendingChange?.rejectedText {
            (text, losses) = (rejected, [])
        } else if let written = message.written {
            (text, losses) = (written, [])
        } else if let html = message.formattedText {
            (text, losses) = MessageMarkup.written(html: html, mentionsEveryone: message.mentionsEveryone)
        } else if message.mentionsEveryone {
            (text, losses) = MessageMarkup.written(plain: message.text, mentionsEveryone: true)
        } else if message.textSyntax(readsPlainTexts: readsPlainTexts) == .plain {
            (text, losses) = (Self.markdown(literal: message.text), [])
        } else {
            // An earlier version stored only the source text; restore mentions from the names it contains.
            (text, losses) = (WrittenText(message.text, mentioning: body.pills), [])
        }
        text = text.withShortForms
    }

    /// Markdown that sends the same plain text if saved unchanged, or the literal text where none does, as with
    /// indented lines.
    private static func markdown(literal text: String) -> WrittenText {
        let (written, losses) = MessageMarkup.written(plain: text)
        guard losses.isEmpty, MessageMarkup.plainText(of: written) == text else {
            return WrittenText(text, syntax: .plain)
        }
        return written
    }
}

nonisolated extension WrittenText {
    /// Adds the short names to which Backspace reduces mentions of members, as completion does.
    var withShortForms: WrittenText {
        let units = Array(source.utf16)
        let marks = marks.map { mark in
            guard case .member = mark.mention, mark.short == nil else { return mark }
            var mark = mark
            let name = String(decoding: units[mark.range.location..<mark.range.end], as: UTF16.self)
            mark.short = MemberDirectory.shortForm(of: name)
            return mark
        }
        return WrittenText(source, syntax: syntax, marks: marks) ?? self
    }
}

nonisolated extension EditableMessage {
    /// Describes what saving the edit will lose, or returns `nil` if nothing.
    func warning(_ translator: Translator) -> String? {
        guard !losses.isEmpty else { return nil }
        let list = translator.list(losses.map { $0.text(translator) })
        // Translators: {list} is what Markdown can't express, such as "table layout, some spacing".
        return translator("Saving removes {list}", ["list": list])
    }
}

nonisolated extension MarkupLoss {
    /// The localized phrase for a list of losses.
    func text(_ translator: Translator) -> String {
        switch self {
        case .image: translator("inline images")
        case .details: translator("collapsible sections")
        case .table: translator("table layout")
        case .spacing: translator("some spacing")
        case .depth: translator("nesting of lists and quotes")
        case .mention: translator("mentions")
        case .other: translator("some formatting")
        }
    }
}
