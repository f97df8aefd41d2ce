import ChatCore
import Composer

/// The attributes that style marks add to a range of a written text, in addition to its Markdown.
struct InlineAttributes: Equatable {
    var style: InlineStyle = []
    var foreground: BodyColor?
    var background: BodyColor?
    var link: LinkTarget?
    var spoiler: Spoiler?

    /// Whether there are no attributes.
    var isPlain: Bool { self == InlineAttributes() }

    /// Returns a run with these attributes added.
    func applied(to run: InlineRun) -> InlineRun {
        var run = run
        run.style.formUnion(style)
        if let foreground { run.foreground = foreground }
        if let background { run.background = background }
        if let spoiler { run.spoiler = spoiler }
        if let link {
            run.link = BodyLink(unjudged: link)
            run.mention = link.mention
        }
        return run
    }
}

/// The style marks that are open at a position of a text that is scanned from its start. Of conflicting styles, such as
/// two colors, the one that began last wins. Each mark takes amortized constant time.
struct OpenStyles {
    private typealias Values<Value> = [(value: Value, end: Int)]

    private static let letters: [InlineStyle] = [
        .bold, .italic, .strike, .underline, .code, .superscript, .subscript,
    ]

    /// The end of each style in ``letters``.
    private var ends = [Int](repeating: 0, count: letters.count)
    private var foregrounds: Values<BodyColor> = []
    private var backgrounds: Values<BodyColor> = []
    private var links: Values<LinkTarget> = []
    private var spoilers: Values<Spoiler> = []

    mutating func open(_ style: TextStyle, until end: Int) {
        if let letters = Self.letters(style) {
            if let index = Self.letters.firstIndex(of: letters) { ends[index] = max(ends[index], end) }
            return
        }
        switch style {
        case .foreground(let color): BodyColor(hexadecimal: color).map { foregrounds.append(($0, end)) }
        case .background(let color): BodyColor(hexadecimal: color).map { backgrounds.append(($0, end)) }
        case .link(let address): LinkTarget(address).map { links.append(($0, end)) }
        default: style.spoiler.map { spoilers.append(($0, end)) }
        }
    }

    /// Returns the attributes at `offset`. Offsets must not decrease from call to call.
    mutating func attributes(at offset: Int) -> InlineAttributes {
        var attributes = InlineAttributes()
        for (letters, end) in zip(Self.letters, ends) where end > offset { attributes.style.insert(letters) }
        attributes.foreground = Self.last(&foregrounds, offset)
        attributes.background = Self.last(&backgrounds, offset)
        attributes.link = Self.last(&links, offset)
        attributes.spoiler = Self.last(&spoilers, offset)
        return attributes
    }

    private static func last<Value>(_ values: inout Values<Value>, _ offset: Int) -> Value? {
        while let last = values.last, last.end <= offset { values.removeLast() }
        return values.last?.value
    }

    private static func letters(_ style: TextStyle) -> InlineStyle? {
        switch style {
        case .bold: .bold
        case .italic: .italic
        case .strikethrough: .strike
        case .underline: .underline
        case .monospace: .code
        case .rise(let pixels): pixels == 0 ? nil : pixels > 0 ? .superscript : .subscript
        default: nil
        }
    }
}
