public import Composer

/// The text of a message in all its stored forms.
public struct Wording: Hashable, Sendable {
    /// The plain text.
    public var text: String
    /// The HTML of the sender's client. Untrusted until sanitized.
    public var html: String?
    /// The source text, if it was written in this application.
    public var written: WrittenText?
    /// Whether a text written elsewhere mentions the room with `@room`. For other texts, the marks of ``written``
    /// say so.
    public var mentionsEveryone: Bool

    public init(
        _ text: String, html: String? = nil, written: WrittenText? = nil, mentionsEveryone: Bool = false
    ) {
        self.text = text
        self.html = html
        self.written = written
        self.mentionsEveryone = mentionsEveryone
    }
}

extension WrittenText {
    /// The text, or `nil` if it is blank.
    public var unlessBlank: WrittenText? { isBlank ? nil : self }
}
