public import ChatCore
public import Composer
public import MessageMarkup

/// A stored message as its author can change it.
public nonisolated struct EditableMessage: Equatable, Sendable {
    public var text: WrittenText
    /// What saving the text loses, as Markdown can't say it.
    public var losses: [MarkupLoss]
    /// Whether the text may go: what goes with files need not say anything.
    public var mayBeEmpty: Bool

    public init(_ text: WrittenText, losses: [MarkupLoss] = [], mayBeEmpty: Bool = false) {
        self.text = text
        self.losses = losses
        self.mayBeEmpty = mayBeEmpty
    }

    /// As it was written here, or else by the HTML that its author's program made.
    ///
    /// - Parameters:
    ///   - body: what the message says by its text alone.
    ///   - readsPlainTexts: see ``BackendCapabilities/plainTexts``.
    init(_ message: Message, body: MessageBody, readsPlainTexts: Bool = false) {
        mayBeEmpty = !message.attachments.isEmpty
        if let written = message.written {
            (text, losses) = (written, [])
        } else if let html = message.formattedText {
            (text, losses) = MessageMarkup.written(html: html, mentionsEveryone: message.mentionsEveryone)
        } else if message.mentionsEveryone {
            (text, losses) = MessageMarkup.written(plain: message.text, mentionsEveryone: true)
        } else if message.textSyntax(readsPlainTexts: readsPlainTexts) == .plain {
            (text, losses) = (WrittenText(message.text, syntax: .plain), [])
        } else {
            // As it was typed by an earlier version, with the members that were recognised by their names.
            (text, losses) = (WrittenText(message.text, mentioning: body.pills), [])
        }
        text = text.withShortForms
    }
}

nonisolated extension WrittenText {
    /// The same where Backspace leaves the first name of members, as of those that completion offers.
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

nonisolated extension MarkupLoss {
    /// In the user's words, as a part of a list.
    func text(_ translator: Translator) -> String {
        switch self {
        case .image: translator("pictures in the text")
        case .details: translator("what is shown on demand")
        case .table: translator("the form of a table")
        case .spacing: translator("some spacing")
        case .depth: translator("the depth of lists and quotes")
        case .mention: translator("whom a name means")
        case .other: translator("some formatting")
        }
    }
}
