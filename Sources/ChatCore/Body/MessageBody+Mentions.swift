public import Composer

extension MessageBody {
    /// All distinct mentions, in reading order.
    public var mentions: [MentionTarget] {
        var found: [MentionTarget] = []
        for text in BodyBlock.inlineTexts(of: blocks) {
            for case let mention? in text.runs.map(\.mention) where !found.contains(mention) { found.append(mention) }
        }
        return found
    }

    /// All occurrences of mentions in reading order, except for those in spoilers.
    public var pills: [Mention] {
        BodyBlock.inlineTexts(of: blocks).flatMap { text in
            text.groups { $0.spoiler == nil ? $0.mention : nil }.compactMap { group in
                group.key.map { Mention($0, text: group.runs.map(\.text).joined()) }
            }
        }
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
