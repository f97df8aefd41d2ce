/// A look that a span of text can have beside its Markdown; the window maps each to a text tag (HKW-16, SLK-35).
public enum TextStyle: Hashable, Sendable, Codable {
    case bold
    case italic
    case underline
    case strikethrough
    case monospace
    /// A colour as `#RRGGBB`.
    case foreground(String)
    case background(String)
    /// A factor on the font size.
    case scale(Double)
    /// A style of the host's own.
    case named(String)
}

extension Set<TextStyle> {
    /// The styles in an order that is the same in every run, as spans are numbered in it.
    var ordered: [TextStyle] {
        count < 2 ? Array(self) : sorted { "\($0)" < "\($1)" }
    }
}
