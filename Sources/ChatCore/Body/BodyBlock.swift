/// A part of a body that begins on a line of its own.
public indirect enum BodyBlock: Hashable, Sendable {
    /// A paragraph. Line breaks are newlines in its runs.
    case text(InlineText)
    /// - level: 1 to 6.
    case heading(level: Int, InlineText)
    /// Text with fixed pitch whose white space counts.
    /// - language: as after the fence or in `class="language-…"`, lowercased; nil if none was named.
    case code(String, language: String?)
    case quote([BodyBlock])
    case list(BodyList)
    case table(BodyTable)
    case rule
    /// What is shown on demand, under a summary.
    case details(summary: InlineText, [BodyBlock])
}
