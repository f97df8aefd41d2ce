/// What a text to be edited can't say of the message it was made of, so that the edit can tell it first.
public enum MarkupLoss: String, CaseIterable, Hashable, Sendable {
    /// A picture or a custom emoji in the text is now its name.
    case image
    /// Text that is shown on demand is always shown.
    case details
    /// A table without a head, with lines in its cells, with a title, or with more cells in a row than in its head.
    case table
    /// White space, line breaks and blank lines that Markdown does not keep.
    case spacing
    /// Lists and quotes that are nested deeper than can be written.
    case depth
    /// Whom a name means: it has no characters of its own in the text.
    case mention
    /// Anything else that reads otherwise than it did.
    case other
}
