extension MessageBody {
    /// Everyone and everything that is named in it, each once, in the order of reading.
    public var mentions: [BodyMention] {
        var found: [BodyMention] = []
        for text in BodyBlock.inlineTexts(of: blocks) {
            for case let mention? in text.runs.map(\.mention) where !found.contains(mention) { found.append(mention) }
        }
        return found
    }
}

extension BodyBlock {
    fileprivate static func inlineTexts(of blocks: [BodyBlock]) -> [InlineText] {
        blocks.flatMap { block -> [InlineText] in
            switch block {
            case .text(let text), .heading(_, let text): [text]
            case .code, .rule: []
            case .quote(let blocks): inlineTexts(of: blocks)
            case .list(let list): list.items.flatMap { inlineTexts(of: $0.blocks) }
            case .table(let table): [table.caption] + table.rows.flatMap { $0.map(\.text) }
            case .details(let summary, let blocks): [summary] + inlineTexts(of: blocks)
            }
        }
    }
}
