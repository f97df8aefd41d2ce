extension MessageBody {
    /// The blocks to show. An emote begins with the sender's name, without bidirectional control characters, which
    /// could reorder the text; link warnings do not depend on the name.
    public func blocks(by sender: String) -> [BodyBlock] {
        guard isEmote else { return blocks }
        let name = HiddenCharacters.withoutTurns(sender)
        var first = InlineText([InlineRun("* "), InlineRun(name, style: .bold), InlineRun(" ")])
        guard case .text(let text)? = blocks.first else { return [.text(first)] + blocks }
        first.append(text)
        return [.text(first)] + blocks.dropFirst()
    }

    /// The selectable text: all texts in reading order, one per line.
    public func selectableText(by sender: String) -> String {
        if !isEmote, let text = unstyledText { return text }
        return BodyBlock.texts(of: blocks(by: sender)).joined(separator: "\n")
    }
}

extension MessageBody {
    /// The number of blocks including nested ones; each table cell counts as one.
    public var blockCount: Int { BodyBlock.count(of: blocks) }
}

extension BodyBlock {
    fileprivate static func count(of blocks: [BodyBlock]) -> Int {
        blocks.reduce(0) { sum, block -> Int in
            switch block {
            case .text, .heading, .code, .rule: sum + 1
            case .quote(let inner), .details(_, let inner): sum + 1 + count(of: inner)
            case .list(let list): sum + list.items.reduce(0) { $0 + 1 + count(of: $1.blocks) }
            case .table(let table): sum + table.rows.reduce(0) { $0 + $1.count }
            }
        }
    }

    /// Returns the texts of the blocks in reading order; each is shown in one label.
    static func texts(of blocks: [BodyBlock]) -> [String] {
        blocks.flatMap { block -> [String] in
            switch block {
            case .text(let text), .heading(_, let text): [text.text]
            case .code(let code, _): [code]
            case .quote(let blocks): texts(of: blocks)
            case .list(let list): list.items.flatMap { texts(of: $0.blocks) }
            case .table(let table):
                (table.caption.isEmpty ? [] : [table.caption.text])
                    + table.displayedRows.flatMap { $0.map(\.text.text) }
            case .rule: []
            case .details(let summary, let blocks): (summary.isEmpty ? [] : [summary.text]) + texts(of: blocks)
            }
        }
    }
}
