import ChatCore

/// Writes a body as HTML that contains only what the Matrix specification allows.
struct HTMLWriter {
    private var html: [UInt8] = []

    static func html(of body: MessageBody) -> String {
        var writer = HTMLWriter()
        writer.html.reserveCapacity(256)
        // A single paragraph is written without `p`.
        if body.blocks.count == 1, case .text(let text) = body.blocks[0] {
            writer.write(text)
        } else {
            writer.write(body.blocks)
        }
        return String(decoding: writer.html, as: UTF8.self)
    }

    private mutating func put(_ markup: String) {
        var markup = markup
        markup.withUTF8 { html.append(contentsOf: $0) }
    }

    // MARK: Blocks

    private mutating func write(_ blocks: [BodyBlock]) {
        for block in blocks { write(block) }
    }

    private mutating func write(_ block: BodyBlock) {
        switch block {
        case .text(let text): element("p") { $0.write(text) }
        case .heading(let level, let text): element("h\(level)") { $0.write(text) }
        case .code(let code, let language):
            // Parsers drop a line break directly after `pre`, so none is written.
            put("<pre><code")
            if let language { put(" class=\"language-\(language)\"") }
            put(">")
            escape(code)
            put("</code></pre>")
        case .quote(let blocks): element("blockquote") { $0.write(blocks) }
        case .list(let list): write(list)
        case .table(let table): write(table)
        case .rule: put("<hr>")
        case .details(let summary, let blocks):
            element("details") {
                if !summary.isEmpty { $0.element("summary") { $0.write(summary) } }
                $0.write(blocks)
            }
        }
    }

    private mutating func write(_ list: BodyList) {
        put(list.start.map { $0 == 1 ? "<ol>" : "<ol start=\"\($0)\">" } ?? "<ul>")
        for item in list.items {
            element("li") {
                if let isChecked = item.isChecked { $0.put(isChecked ? "☑ " : "☐ ") }
                if case .text(let text)? = item.blocks.first, item.blocks.count == 1 || item.blocks[1].isList {
                    $0.write(text)
                    $0.write(Array(item.blocks.dropFirst()))
                } else {
                    $0.write(item.blocks)
                }
            }
        }
        put(list.start == nil ? "</ul>" : "</ol>")
    }

    private mutating func write(_ table: BodyTable) {
        element("table") {
            if !table.caption.isEmpty { $0.element("caption") { $0.write(table.caption) } }
            for row in table.rows {
                $0.element("tr") {
                    for cell in row { $0.element(cell.isHeader ? "th" : "td") { $0.write(cell.text) } }
                }
            }
        }
    }

    private mutating func element(_ name: String, _ content: (inout HTMLWriter) -> Void) {
        start(name)
        content(&self)
        end(name)
    }

    private mutating func start(_ name: String) {
        html.append(.lessThan)
        put(name)
        html.append(.greaterThan)
    }

    private mutating func end(_ name: String) {
        put("</")
        put(name)
        html.append(.greaterThan)
    }

    // MARK: Text

    /// Writes inline text: spoilers nest in links, and runs in spoilers.
    private mutating func write(_ text: InlineText) {
        let runs = text.runs
        var (link, spoiler): (LinkTarget?, Spoiler?)
        for run in runs {
            let target = run.link?.target ?? run.mention?.link
            let isSameLink = target == link
            if !isSameLink || run.spoiler != spoiler {
                if spoiler != nil { end("span") }
                spoiler = nil
            }
            if !isSameLink {
                if link != nil { end("a") }
                link = target
                if let link { putAttribute("<a href", link.address, end: true) }
            }
            if spoiler == nil, let cover = run.spoiler {
                putAttribute("<span data-mx-spoiler", cover.reason, end: true)
                spoiler = cover
            }
            write(run)
        }
        if spoiler != nil { end("span") }
        if link != nil { end("a") }
    }

    private mutating func putAttribute(_ name: String, _ value: String, end: Bool = false) {
        put(name)
        put("=\"")
        escape(value, quote: "&quot;")
        put(end ? "\">" : "\"")
    }

    private mutating func write(_ run: InlineRun) {
        let isColored = run.foreground != nil || run.background != nil
        if isColored {
            put("<span")
            if let color = run.foreground { put(" data-mx-color=\"\(color.hexadecimal)\"") }
            if let color = run.background { put(" data-mx-bg-color=\"\(color.hexadecimal)\"") }
            put(">")
        }
        let isStyled = !run.style.isEmpty
        if isStyled { for (style, name) in Self.elements where run.style.contains(style) { start(name) } }
        if let image = run.image { write(image) } else { escape(run.text, lineBreak: "<br>") }
        if isStyled { for (style, name) in Self.elements.reversed() where run.style.contains(style) { end(name) } }
        if isColored { end("span") }
    }

    private static let elements: [(InlineStyle, String)] = [
        (.bold, "strong"), (.italic, "em"), (.underline, "u"), (.strike, "del"), (.superscript, "sup"),
        (.subscript, "sub"), (.code, "code"),
    ]

    private mutating func write(_ image: ImageReference) {
        putAttribute("<img src", image.source)
        if image.isEmoticon { put(" data-mx-emoticon=\"\"") }
        for (name, value) in [("alt", image.alternative), ("title", image.title)] where !value.isEmpty {
            putAttribute(" \(name)", value)
        }
        for (name, value) in [("width", image.width), ("height", image.height)] {
            if let value { put(" \(name)=\"\(value)\"") }
        }
        put(">")
    }

    /// Escapes bytes, not characters: a quote followed by a combining mark is a different `Character` but still a
    /// quote.
    private mutating func escape(_ text: String, lineBreak: String = "\n", quote: String = "\"") {
        var text = text
        text.withUTF8 { bytes in
            var start = 0
            for index in bytes.indices where Self.isSpecial[Int(bytes[index])] {
                html.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[start..<index]))
                start = index + 1
                switch bytes[index] {
                case UInt8(ascii: "&"): put("&amp;")
                case .lessThan: put("&lt;")
                case .greaterThan: put("&gt;")
                case .doubleQuote: put(quote)
                default: put(lineBreak)
                }
            }
            html.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[start...]))
        }
    }

    private static let isSpecial = (0..<256).map { "&<>\"\n".utf8.contains(UInt8($0)) }
}

extension BodyBlock {
    fileprivate var isList: Bool { if case .list = self { true } else { false } }
}
