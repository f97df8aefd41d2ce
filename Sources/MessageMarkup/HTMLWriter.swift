import ChatCore

/// Writes a body as HTML, with nothing that a receiver would have to take out.
struct HTMLWriter {
    private(set) var html = ""

    static func html(of body: MessageBody) -> String {
        var writer = HTMLWriter()
        // One paragraph needs no element of its own.
        if body.blocks.count == 1, case .text(let text) = body.blocks[0] {
            writer.write(text)
        } else {
            writer.write(body.blocks)
        }
        return writer.html
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
            // A parser drops the first line break in `pre`.
            html += "<pre><code" + (language.map { " class=\"language-\($0)\"" } ?? "") + ">"
            escape(code)
            html += "</code></pre>"
        case .quote(let blocks): element("blockquote") { $0.write(blocks) }
        case .list(let list): write(list)
        case .table(let table): write(table)
        case .rule: html += "<hr>"
        case .details(let summary, let blocks):
            element("details") {
                if !summary.isEmpty { $0.element("summary") { $0.write(summary) } }
                $0.write(blocks)
            }
        }
    }

    private mutating func write(_ list: BodyList) {
        html += list.start.map { $0 == 1 ? "<ol>" : "<ol start=\"\($0)\">" } ?? "<ul>"
        for item in list.items {
            element("li") {
                if let isChecked = item.isChecked { $0.html += isChecked ? "☑ " : "☐ " }
                if case .text(let text)? = item.blocks.first, item.blocks.count == 1 || item.blocks[1].isList {
                    $0.write(text)
                    $0.write(Array(item.blocks.dropFirst()))
                } else {
                    $0.write(item.blocks)
                }
            }
        }
        html += list.start == nil ? "</ul>" : "</ol>"
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
        html += "<\(name)>"
        content(&self)
        html += "</\(name)>"
    }

    // MARK: Text

    private mutating func write(_ text: InlineText) {
        for (target, runs) in text.groups(by: \.link?.target) {
            if let target { html += "<a href=\"\(Self.escaped(target.address))\">" }
            for (spoiler, covered) in InlineText(Array(runs)).groups(by: \.spoiler) {
                if let spoiler { html += "<span data-mx-spoiler=\"\(Self.escaped(spoiler.reason))\">" }
                for run in covered { write(run) }
                if spoiler != nil { html += "</span>" }
            }
            if target != nil { html += "</a>" }
        }
    }

    private mutating func write(_ run: InlineRun) {
        var ends: [String] = []
        if run.foreground != nil || run.background != nil {
            html += "<span"
            if let color = run.foreground { html += " data-mx-color=\"\(color.hexadecimal)\"" }
            if let color = run.background { html += " data-mx-bg-color=\"\(color.hexadecimal)\"" }
            html += ">"
            ends.append("</span>")
        }
        for (style, name) in Self.elements where run.style.contains(style) {
            html += "<\(name)>"
            ends.append("</\(name)>")
        }
        if let image = run.image { write(image) } else { escape(run.text, lineBreak: "<br>") }
        html += ends.reversed().joined()
    }

    private static let elements: [(InlineStyle, String)] = [
        (.bold, "strong"), (.italic, "em"), (.underline, "u"), (.strike, "del"), (.superscript, "sup"),
        (.subscript, "sub"), (.code, "code"),
    ]

    private mutating func write(_ image: ImageReference) {
        html += "<img src=\"\(Self.escaped(image.source))\""
        for (name, value) in [("alt", image.alternative), ("title", image.title)] where !value.isEmpty {
            html += " \(name)=\"\(Self.escaped(value))\""
        }
        for (name, value) in [("width", image.width), ("height", image.height)] {
            if let value { html += " \(name)=\"\(value)\"" }
        }
        html += ">"
    }

    /// Scalar by scalar: a mark over a quote makes one character of both, and a quote all the same.
    private mutating func escape(_ text: String, lineBreak: String = "\n", quote: String = "\"") {
        guard text.utf8.contains(where: { $0 < 0x40 && "&<>\"\n".utf8.contains($0) }) else {
            html += text
            return
        }
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": html += "&amp;"
            case "<": html += "&lt;"
            case ">": html += "&gt;"
            case "\"": html += quote
            case "\n": html += lineBreak
            default: html.unicodeScalars.append(scalar)
            }
        }
    }

    private static func escaped(_ text: String) -> String {
        var writer = HTMLWriter()
        writer.escape(text, quote: "&quot;")
        return writer.html
    }
}

extension BodyBlock {
    fileprivate var isList: Bool { if case .list = self { true } else { false } }
}
