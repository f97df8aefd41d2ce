/// A block-level element of a body.
public indirect enum BodyBlock: Hashable, Sendable {
    /// A paragraph. Its runs contain newlines as line breaks.
    case text(InlineText)
    /// A heading of the given level, from 1 to 6.
    case heading(level: Int, InlineText)
    /// Preformatted text.
    /// - language: The info string of the fence or the name in `class="language-…"`, in lowercase; `nil` if there is
    ///   none.
    case code(String, language: String?)
    case quote([BodyBlock])
    case list(BodyList)
    case table(BodyTable)
    case rule
    /// A disclosure with a summary.
    case details(summary: InlineText, [BodyBlock])
}
