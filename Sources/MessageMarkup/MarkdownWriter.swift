import ChatCore
import Composer

/// Writes a body as an editable text: Markdown as a user would type it, with marks for what Markdown cannot express.
/// The result is parsed again, in parts and as a whole: delimiters that do not read back are escaped or replaced by
/// marks.
struct MarkdownWriter {
    /// - Returns: The text, and what of the body it cannot express.
    static func written(
        _ body: MessageBody, mentionsEveryone: Bool = false
    ) -> (text: WrittenText, losses: [MarkupLoss]) {
        let writable = WritableBody(body, mentionsEveryone: mentionsEveryone)
        let expected = MessageBody(blocks: writable.blocks)
        var losses = writable.losses
        var best: (text: WrittenText, missing: MarkupLoss?)?
        for care in [InlineCare.none, .marks] {
            var writer = MarkdownWriter(minCare: care)
            writer.write(expected.blocks, prefix: "", first: "")
            let (text, isWhole) = writer.output.written()
            let missing = isWhole ? difference(of: text, from: expected) : .mention
            if best == nil || missing == nil || missing == .spacing { best = (text, missing) }
            if missing == nil { break }
        }
        guard let best else { return (WrittenText(), []) }
        if let missing = best.missing { losses.insert(missing) }
        return (best.text, MarkupLoss.allCases.filter(losses.contains))
    }

    /// Returns what differs after parsing the text, or `nil` if it reads like the body.
    private static func difference(of text: WrittenText, from expected: MessageBody) -> MarkupLoss? {
        let body = MessageMarkup.body(of: text)
        if body.readsLike(expected) { return nil }
        if body.canonical(isCollapsed: true) == expected.canonical(isCollapsed: true) { return .spacing }
        return expected.isDeep ? .depth : .other
    }

    private let minCare: InlineCare
    private var output = MarkedText()

    private init(minCare: InlineCare) {
        self.minCare = minCare
    }

    // MARK: Blocks

    /// - Parameters:
    ///   - prefix: The prefix of each line.
    ///   - first: The prefix of the first line instead, which contains the list marker of an item.
    private mutating func write(_ blocks: [BodyBlock], prefix: String, first: String, isItem: Bool = false) {
        var list: (isBullet: Bool, isAlternate: Bool)?
        for (index, block) in blocks.enumerated() {
            if index > 0 { separate(blocks[index - 1], from: block, prefix, isItem: isItem) }
            let first = index == 0 ? first : prefix
            if case .list(let content) = block {
                let isBullet = content.start == nil
                // Alternate the marker: adjacent lists with the same marker would be parsed as one.
                let isAlternate = list.map { $0.isBullet == isBullet && !$0.isAlternate } ?? false
                list = (isBullet, isAlternate)
                write(content, isAlternate: isAlternate, prefix: prefix, first: first)
            } else {
                list = nil
                write(block, prefix: prefix, first: first, isFirstOfItem: isItem && index == 0)
            }
        }
        if blocks.isEmpty { output.append(first.trimmingSpaces) }
    }

    /// Writes a blank line, except between an item's only paragraph and a nested list.
    private mutating func separate(_ before: BodyBlock, from after: BodyBlock, _ prefix: String, isItem: Bool) {
        if isItem, case .text = before, case .list(let list) = after, list.start ?? 1 == 1 {
            output.append("\n")
        } else {
            output.append("\n" + prefix.trimmingSpaces + "\n")
        }
    }

    private mutating func write(_ block: BodyBlock, prefix: String, first: String, isFirstOfItem: Bool) {
        switch block {
        case .text(let text):
            lines(InlineWriter.written(text, as: isFirstOfItem ? .item : .paragraph, minCare), prefix, first)
        case .heading(let level, let text):
            lines(
                InlineWriter.written(text, as: .heading, minCare), prefix,
                first + String(repeating: "#", count: level) + " ")
        case .code(let code, let language):
            let fence = String(repeating: "`", count: max(3, code.longestRun(of: UInt8(ascii: "`")) + 1))
            var text = MarkedText(fence + (language ?? ""))
            text.append("\n" + code + "\n" + fence)
            lines(text, prefix, first)
        case .quote(let blocks): write(blocks, prefix: prefix + "> ", first: first + "> ")
        case .table(let table): write(table, prefix, first)
        // In an item, `- ---` would be a thematic break of its own.
        case .rule: output.append(first + (isFirstOfItem ? "___" : "---"))
        case .list, .details: break
        }
    }

    private mutating func write(_ list: BodyList, isAlternate: Bool, prefix: String, first: String) {
        for (index, item) in list.items.enumerated() {
            if index > 0 { output.append("\n") }
            var marker = isAlternate ? "* " : "- "
            if let start = list.start { marker = "\(min(start + index, 999_999_999))" + (isAlternate ? ") " : ". ") }
            let before = index == 0 ? first : prefix
            let inner = prefix + String(repeating: " ", count: marker.utf8.count)
            let task = item.isChecked.map { $0 ? "[x] " : "[ ] " } ?? ""
            write(item.blocks, prefix: inner, first: before + marker + task, isItem: true)
        }
    }

    private mutating func write(_ table: BodyTable, _ prefix: String, _ first: String) {
        for (index, row) in table.rows.enumerated() {
            var line = MarkedText("|")
            for cell in row {
                line.append(" ")
                line.append(InlineWriter.written(cell.text, as: .cell, minCare))
                line.append(" |")
            }
            output.append(index == 0 ? first : "\n" + prefix)
            output.append(line)
            guard index == 0 else { continue }
            let delimiters = row.map { [.start: "---", .center: ":-:", .end: "--:"][$0.alignment] ?? "---" }
            output.append("\n" + prefix + "| " + delimiters.joined(separator: " | ") + " |")
        }
    }

    private mutating func lines(_ text: MarkedText, _ prefix: String, _ first: String) {
        output.append(first)
        output.append(text.indented(by: prefix))
    }
}

extension MessageBody {
    /// Whether lists and quotes are nested deeper than users write them.
    fileprivate var isDeep: Bool {
        func depth(_ blocks: [BodyBlock]) -> Int {
            blocks.reduce(0) { deepest, block in
                switch block {
                case .quote(let blocks): max(deepest, 1 + depth(blocks))
                case .list(let list): max(deepest, 1 + (list.items.map { depth($0.blocks) }.max() ?? 0))
                default: deepest
                }
            }
        }
        return depth(blocks) > 10
    }
}

extension String {
    var trimmingSpaces: String {
        var text = self
        while text.utf8.last == 0x20 { text.unicodeScalars.removeLast() }
        return text
    }

    func longestRun(of byte: UInt8) -> Int {
        var (longest, run) = (0, 0)
        for other in utf8 {
            run = other == byte ? run + 1 : 0
            longest = max(longest, run)
        }
        return longest
    }
}
