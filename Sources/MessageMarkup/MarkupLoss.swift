/// What is lost when a message is converted to editable text. The user is informed before editing.
public enum MarkupLoss: String, CaseIterable, Hashable, Sendable {
    /// An image or a custom emoji becomes its name.
    case image
    /// The content of `details` is always displayed.
    case details
    /// A table without a header, with line breaks in cells, with a caption, or with rows longer than the header.
    case table
    /// White space, line breaks and blank lines that Markdown does not preserve.
    case spacing
    /// Lists and quotes nested too deep to be written.
    case depth
    /// The target of a mention that has no characters of its own in the text.
    case mention
    /// Anything else that reads back differently.
    case other
}
