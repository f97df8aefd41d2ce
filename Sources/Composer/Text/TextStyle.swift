/// A text attribute of a span, independent of Markdown. The window maps each to a `GtkTextTag` (HKW-16, SLK-35).
///
/// Covers the attributes that Hakawai has helpers for and that Pango can draw.
public enum TextStyle: Hashable, Sendable, Codable {
    case bold
    case italic
    case underline
    case strikethrough
    case monospace
    /// A color as `#RRGGBB`.
    case foreground(String)
    case background(String)
    /// A factor of the font size.
    case scale(Double)
    /// A font family.
    case family(String)
    /// OpenType features in CSS syntax, such as `"liga" 0`.
    case fontFeatures(String)
    /// In pixels.
    case letterSpacing(Double)
    /// In pixels above the baseline; negative values are below it.
    case rise(Double)
    /// The URL of a link.
    case link(String)
    /// A style that the host defines.
    case named(String)

    /// The attribute that a style sets. A text has at most one style of each kind.
    public enum Kind: Hashable, Sendable {
        case bold, italic, underline, strikethrough, monospace, foreground, background, scale, family, fontFeatures
        case letterSpacing, rise, link
        case named(String)
    }

    public var kind: Kind {
        switch self {
        case .bold: .bold
        case .italic: .italic
        case .underline: .underline
        case .strikethrough: .strikethrough
        case .monospace: .monospace
        case .foreground: .foreground
        case .background: .background
        case .scale: .scale
        case .family: .family
        case .fontFeatures: .fontFeatures
        case .letterSpacing: .letterSpacing
        case .rise: .rise
        case .link: .link
        case .named(let name): .named(name)
        }
    }
}

extension Set<TextStyle> {
    /// Creates a set in which the last style of each kind wins (HKW-16).
    public init(lastOfEachKind styles: some Sequence<TextStyle>) {
        self.init()
        for style in styles { put(style) }
    }

    /// Adds a style, replacing one of the same kind.
    public mutating func put(_ style: TextStyle) {
        self = filter { $0.kind != style.kind }
        insert(style)
    }

    /// The styles in a deterministic order, as it determines the identifiers of spans.
    var ordered: [TextStyle] {
        count < 2 ? Array(self) : sorted { "\($0)" < "\($1)" }
    }
}
