extension MessageBody {
    /// How spoilers are converted to plain text.
    public enum Projection: Sendable {
        /// With the hidden text, for copying and searching.
        case full
        /// With hidden spoilers, for previews and notifications.
        case covered
    }

    /// Returns the text without markup: a line for each paragraph, `> ` before quotes, numbers or bullets before list
    /// items.
    public func plainText(_ projection: Projection = .full) -> String {
        var writer = PlainTextWriter(projection: projection)
        writer.write(blocks, prefix: "")
        return writer.text
    }
}

private struct PlainTextWriter {
    let projection: MessageBody.Projection
    private(set) var text = ""
    private var isAtStart = true

    init(projection: MessageBody.Projection) {
        self.projection = projection
    }

    mutating func write(_ blocks: [BodyBlock], prefix: String) {
        for block in blocks { write(block, prefix: prefix) }
    }

    private mutating func write(_ block: BodyBlock, prefix: String) {
        switch block {
        case .text(let inline), .heading(_, let inline): line(visibleText(inline), prefix)
        case .code(let code, _): line(code, prefix)
        case .quote(let blocks): write(blocks, prefix: prefix + "> ")
        case .list(let list): write(list, prefix)
        case .table(let table):
            if !table.caption.isEmpty { line(visibleText(table.caption), prefix) }
            for row in table.rows { line(row.map { visibleText($0.text) }.joined(separator: "\t"), prefix) }
        case .rule: line("―――", prefix)
        case .details(let summary, let blocks):
            if !summary.isEmpty { line(visibleText(summary), prefix) }
            write(blocks, prefix: prefix)
        }
    }

    private mutating func write(_ list: BodyList, _ prefix: String) {
        for (offset, item) in list.items.enumerated() {
            var marker = list.start.map { "\($0 + offset). " } ?? "• "
            if let isChecked = item.isChecked { marker = isChecked ? "☑ " : "☐ " }
            var inner = PlainTextWriter(projection: projection)
            inner.write(item.blocks, prefix: "")
            let indent = String(repeating: " ", count: marker.count)
            for (number, text) in inner.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                line((number == 0 ? marker : indent) + text, prefix)
            }
        }
    }

    private func visibleText(_ inline: InlineText) -> String {
        guard projection == .covered else { return inline.text }
        return inline.groups(by: \.spoiler).reduce(into: "") { text, group in
            if group.key == nil {
                for run in group.runs { text += run.text }
            } else {
                text += "▒▒▒▒▒"
            }
        }
    }

    private mutating func line(_ line: String, _ prefix: String) {
        if isAtStart { isAtStart = false } else { text += "\n" }
        text += prefix
        text += prefix.isEmpty ? line : line.replacing("\n", with: "\n" + prefix)
    }
}
