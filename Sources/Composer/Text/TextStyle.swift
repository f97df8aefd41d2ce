/// A look that a span of text can have beside its Markdown; the window maps each to a text tag (HKW-16, SLK-35).
///
/// Of the text attributes that Hakawai has helpers for, those are here that Pango can draw.
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
    /// A font family.
    case family(String)
    /// OpenType features as CSS writes them, such as `"liga" 0`.
    case fontFeatures(String)
    /// Between letters, in pixels.
    case letterSpacing(Double)
    /// Above the baseline, in pixels; negative below.
    case rise(Double)
    /// The address that the text leads to.
    case link(String)
    /// A style of the host's own.
    case named(String)

    /// What a text can have only one of: another colour takes the place of the first.
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
    /// A set of styles of which the last of a kind counts (HKW-16).
    public init(lastOfEachKind styles: some Sequence<TextStyle>) {
        self.init()
        for style in styles { put(style) }
    }

    /// Adds a style in the place of another of its kind.
    public mutating func put(_ style: TextStyle) {
        self = filter { $0.kind != style.kind }
        insert(style)
    }

    /// The styles in an order that is the same in every run, as spans are numbered in it.
    var ordered: [TextStyle] {
        count < 2 ? Array(self) : sorted { "\($0)" < "\($1)" }
    }
}
