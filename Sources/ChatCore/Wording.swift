public import Composer

/// What a message says, in the forms that are kept of it.
public struct Wording: Hashable, Sendable {
    /// In plain text.
    public var text: String
    /// As HTML, where the sender's program said so: not to be trusted before it was filtered.
    public var html: String?
    /// As the user wrote it, of what was written here.
    public var written: WrittenText?
    /// Whether `@room` in it notified everyone, of what was written elsewhere: ``written`` says so by its marks.
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
    /// What is kept of it: nothing, if there is nothing to be seen in it.
    public var unlessBlank: WrittenText? { isBlank ? nil : self }
}

extension Message {
    public var wording: Wording {
        get {
            Wording(text, html: formattedText, written: written, mentionsEveryone: mentionsEveryone)
        }
        set {
            text = newValue.text
            formattedText = newValue.html
            written = newValue.written
            mentionsEveryone = newValue.mentionsEveryone
        }
    }
}
