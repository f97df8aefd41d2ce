import CGumbo
import ChatCore

/// Parses untrusted HTML with gumbo into a ``MessageBody`` that contains only allowed elements and attributes.
struct HTMLParser {
    private var builder: BodyBuilder
    /// Whether white space is preserved, inside `pre`.
    private var isPreformatted = false

    /// - Parameter html: HTML of any length and form; parsing takes linear time.
    static func body(_ html: String, isEmote: Bool, annotator: InlineAnnotator) -> MessageBody {
        var parser = HTMLParser(builder: BodyBuilder(annotator: annotator, readsTasks: true))
        let limited = TagLimiter.limited(html)
        limited.withUnsafeBytes { bytes in
            let text = bytes.bindMemory(to: CChar.self)
            var memory = shim_gumbo_memory()
            defer { shim_gumbo_free(&memory) }
            guard let base = text.baseAddress, let output = shim_gumbo_parse(&memory, base, text.count) else { return }
            parser.readChildren(of: output.pointee.root)
        }
        return parser.builder.finished(isEmote: isEmote)
    }

    // MARK: Tree

    /// Tags by gumbo's tag number.
    private static let tags: [MarkupTag?] = {
        var tags = [MarkupTag?](repeating: nil, count: Int(GUMBO_TAG_LAST.rawValue) + 1)
        for tag in MarkupTag.allCases where tag != .reply { tags[Int(gumbo_tag_enum(tag.name).rawValue)] = tag }
        return tags
    }()

    private static func tag(of node: UnsafeMutablePointer<GumboNode>) -> MarkupTag? {
        tags[Int(node.pointee.v.element.tag.rawValue)]
    }

    private mutating func readChildren(of node: UnsafeMutablePointer<GumboNode>?) {
        guard let node, node.pointee.type == GUMBO_NODE_ELEMENT else { return }
        for child in GumboChildren(node.pointee.v.element.children) { read(child) }
    }

    private mutating func read(_ node: UnsafeMutablePointer<GumboNode>) {
        switch node.pointee.type {
        case GUMBO_NODE_TEXT, GUMBO_NODE_WHITESPACE, GUMBO_NODE_CDATA:
            let text = String(cString: node.pointee.v.text.text)
            if isPreformatted { builder.add(text) } else { builder.addCollapsing(text) }
        case GUMBO_NODE_ELEMENT:
            guard let tag = Self.tag(of: node) else {
                // The only unknown element that the limiter lets through is `mx-reply`, which is dropped with its
                // content.
                if node.pointee.v.element.tag != GUMBO_TAG_UNKNOWN { readChildren(of: node) }
                return
            }
            read(tag, node)
        default: break
        }
    }

    private mutating func read(_ tag: MarkupTag, _ node: UnsafeMutablePointer<GumboNode>) {
        switch tag {
        case .b, .strong: readStyled(.bold, node)
        case .i, .em: readStyled(.italic, node)
        case .u: readStyled(.underline, node)
        case .s, .del, .strike: readStyled(.strike, node)
        case .code: readStyled(.code, node)
        case .sup: readStyled(.superscript, node)
        case .sub: readStyled(.subscript, node)
        case .a: readLink(node)
        case .span, .font: readSpan(node)
        case .img: readImage(node)
        case .br: builder.breakLine()
        case .hr:
            builder.endParagraph()
            builder.add(.rule)
        case .p, .div:
            builder.endParagraph()
            readChildren(of: node)
            builder.endParagraph()
        case .h1, .h2, .h3, .h4, .h5, .h6:
            builder.endParagraph()
            readChildren(of: node)
            builder.endHeading(level: Int(tag.rawValue - MarkupTag.h1.rawValue) + 1)
        case .pre: readCode(node)
        default: readContainer(tag, node)
        }
    }

    private mutating func readContainer(_ tag: MarkupTag, _ node: UnsafeMutablePointer<GumboNode>) {
        let container: BodyBuilder.Container
        switch tag {
        case .blockquote: container = .quote
        case .ul: container = .list(start: nil)
        case .ol:
            let start = attribute("start", of: node).flatMap { Int($0) } ?? 1
            container = .list(start: min(max(start, 0), 999_999_999))
        case .li: container = .item(isChecked: nil)
        case .table: container = .table
        case .caption: container = .caption
        case .tr: container = .row
        case .td: container = .cell(isHeader: false, .start)
        case .th: container = .cell(isHeader: true, .start)
        case .details: container = .details
        case .summary: container = .summary
        default: return readChildren(of: node)
        }
        builder.open(container)
        readChildren(of: node)
        builder.close()
    }

    // MARK: Inline formatting

    private mutating func readStyled(_ style: InlineStyle, _ node: UnsafeMutablePointer<GumboNode>) {
        let before = builder.runTemplate
        builder.runTemplate.style.insert(style)
        readChildren(of: node)
        builder.runTemplate = before
    }

    private mutating func readLink(_ node: UnsafeMutablePointer<GumboNode>) {
        let before = builder.runTemplate
        if let target = attribute("href", of: node).flatMap(LinkTarget.init) {
            builder.runTemplate.link = BodyLink(unjudged: target)
            builder.runTemplate.mention = target.mention
        }
        readChildren(of: node)
        builder.runTemplate = before
    }

    private mutating func readSpan(_ node: UnsafeMutablePointer<GumboNode>) {
        let before = builder.runTemplate
        if let color = (attribute("data-mx-color", of: node) ?? attribute("color", of: node)).flatMap(
            BodyColor.init(hexadecimal:))
        {
            builder.runTemplate.foreground = color
        }
        if let color = attribute("data-mx-bg-color", of: node).flatMap(BodyColor.init(hexadecimal:)) {
            builder.runTemplate.background = color
        }
        if let reason = attribute("data-mx-spoiler", of: node), builder.runTemplate.spoiler == nil {
            builder.runTemplate.spoiler = Spoiler(reason: String(reason.prefix(200)))
        }
        readChildren(of: node)
        builder.runTemplate = before
    }

    private mutating func readImage(_ node: UnsafeMutablePointer<GumboNode>) {
        let source = attribute("src", of: node) ?? ""
        let alternative = String((attribute("alt", of: node) ?? "").prefix(500))
        guard source.hasPrefix("mxc://"), source.utf8.count > 6, source.utf8.count <= 512,
            source.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != .doubleQuote && $0 != .lessThan })
        else { return builder.addCollapsing(alternative) }
        let side: (String) -> Int? = { [self] name in
            attribute(name, of: node).flatMap { Int($0) }.flatMap { (1...10_000).contains($0) ? $0 : nil }
        }
        builder.addImage(
            ImageReference(
                source: source, alternative: alternative,
                title: String((attribute("title", of: node) ?? "").prefix(500)),
                width: side("width"), height: side("height"),
                isEmoticon: attribute("data-mx-emoticon", of: node) != nil))
    }

    /// Adds all text in a `pre` as a code block; the language is the class of a `code` element in it.
    private mutating func readCode(_ node: UnsafeMutablePointer<GumboNode>) {
        builder.endParagraph()
        var code = ""
        var language: String?
        collectCode(node, &code, &language)
        code = code.withPlainLineBreaks
        // Remove line breaks at the ends: HTML parsers drop the first one in `pre`, so round trips would not be stable.
        while code.last?.isNewline ?? false { code.removeLast() }
        code = String(code.drop(while: \.isNewline))
        if !code.isEmpty { builder.add(.code(code, language: language)) }
    }

    private func collectCode(
        _ node: UnsafeMutablePointer<GumboNode>, _ code: inout String, _ language: inout String?
    ) {
        switch node.pointee.type {
        case GUMBO_NODE_TEXT, GUMBO_NODE_WHITESPACE, GUMBO_NODE_CDATA:
            code += String(cString: node.pointee.v.text.text)
        case GUMBO_NODE_ELEMENT:
            switch Self.tag(of: node) {
            case .br: code += "\n"
            case .code: language = language ?? attribute("class", of: node).flatMap(CodeLanguage.init(className:))?.name
            case nil where node.pointee.v.element.tag == GUMBO_TAG_UNKNOWN: return
            default: break
            }
            for child in GumboChildren(node.pointee.v.element.children) { collectCode(child, &code, &language) }
        default: break
        }
    }

    private func attribute(_ name: String, of node: UnsafeMutablePointer<GumboNode>) -> String? {
        withUnsafePointer(to: &node.pointee.v.element.attributes) { attributes in
            gumbo_get_attribute(attributes, name).map { String(cString: $0.pointee.value).withPlainLineBreaks }
        }
    }
}

extension String {
    /// `&#13;` decodes to a carriage return, which a parser would normalize to a line feed when it is written out.
    fileprivate var withPlainLineBreaks: String {
        guard utf8.contains(0x0D) else { return self }
        return replacing("\r\n", with: "\n").replacing("\r", with: "\n")
    }
}

/// Iterates over the children in a gumbo vector.
private struct GumboChildren: Sequence, IteratorProtocol {
    private let vector: GumboVector
    private var index = 0

    init(_ vector: GumboVector) {
        self.vector = vector
    }

    mutating func next() -> UnsafeMutablePointer<GumboNode>? {
        guard index < Int(vector.length), let data = vector.data else { return nil }
        defer { index += 1 }
        return data[index]?.assumingMemoryBound(to: GumboNode.self)
    }
}
