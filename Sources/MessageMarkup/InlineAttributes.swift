import ChatCore
import Composer

/// What the styles over a stretch of a written text make of it, beside its Markdown.
struct InlineAttributes: Equatable {
    var style: InlineStyle = []
    var foreground: BodyColor?
    var background: BodyColor?
    var link: LinkTarget?
    var spoiler: Spoiler?

    /// Whether it changes nothing.
    var isPlain: Bool { self == InlineAttributes() }

    /// A run as it looks with these styles added.
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

/// The styles that are open while one goes through a text from its beginning. Of those that exclude each other the one
/// that began last counts; whatever lies over whatever, each costs the same.
struct OpenStyles {
    private typealias Values<Value> = [(value: Value, end: Int)]

    private static let letters: [InlineStyle] = [
        .bold, .italic, .strike, .underline, .code, .superscript, .subscript,
    ]

    /// Where each of ``letters`` ends.
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

    /// How text from `offset` on looks. Places only grow.
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
