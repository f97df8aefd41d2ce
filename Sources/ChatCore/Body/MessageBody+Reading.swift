extension MessageBody {
    /// The blocks as they are drawn: for what somebody does, with who does it before the first words. The name cannot
    /// turn the words, whose links are judged without it.
    public func blocks(saidBy sender: String) -> [BodyBlock] {
        guard isEmote else { return blocks }
        let name = HiddenCharacters.withoutTurns(sender)
        var first = InlineText([InlineRun("* "), InlineRun(name, style: .bold), InlineRun(" ")])
        guard case .text(let text)? = blocks.first else { return [.text(first)] + blocks }
        first.append(text)
        return [.text(first)] + blocks.dropFirst()
    }

    /// All that can be selected: the texts in the order of reading, a line for each.
    public func selectableText(saidBy sender: String) -> String {
        if !isEmote, let text = unstyledText { return text }
        return BodyBlock.texts(of: blocks(saidBy: sender)).joined(separator: "\n")
    }
}

extension MessageBody {
    /// How many blocks there are, those in others counted too, and each cell of a table for one.
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

    /// The texts in blocks in the order of reading; each is drawn in one piece.
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
