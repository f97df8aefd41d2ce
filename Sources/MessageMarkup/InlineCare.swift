/// How defensively text is written as Markdown. The lowest level that reads back unchanged is the easiest to edit.
enum InlineCare: Int, Comparable, CaseIterable {
    /// Text is not escaped; styles are written with delimiters.
    case none
    /// Characters that might be markup are escaped; styles are written with delimiters.
    case escapes
    /// Characters are escaped, and styles become marks instead of delimiters.
    case marks

    static func < (one: InlineCare, other: InlineCare) -> Bool { one.rawValue < other.rawValue }
}
