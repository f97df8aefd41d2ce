extension MessageBody {
    /// Returns the part of the body in a range of its ``selectableText(by:)``. Completely covered blocks keep their
    /// structure; partly covered ones are reduced to formatted text.
    ///
    /// - Parameter range: In UTF-8 code units; extended to whole characters.
    public func excerpt(_ range: Range<Int>, by sender: String) -> MessageBody {
        let text = selectableText(by: sender)
        let bounds = range.clamped(to: 0..<text.utf8.count)
        if bounds == 0..<text.utf8.count { return self }
        var cutter = BodyCutter(range: bounds)
        return MessageBody(blocks: cutter.excerpt(of: blocks(by: sender)))
    }
}

/// Visits the texts of blocks in reading order, like `BodyBlock.texts(of:)`.
private struct BodyCutter {
    let range: Range<Int>
    /// The start of the next text.
    private var offset = 0

    init(range: Range<Int>) {
        self.range = range
    }

    mutating func excerpt(of blocks: [BodyBlock]) -> [BodyBlock] { blocks.flatMap { excerpt(of: $0) } }

    private mutating func excerpt(of block: BodyBlock) -> [BodyBlock] {
        switch block {
        case .text(let text): return cut(text).map { [.text($0.text)] } ?? []
        case .heading(let level, let text):
            guard let cut = cut(text) else { return [] }
            return [cut.isWhole ? .heading(level: level, cut.text) : .text(cut.text)]
        case .code(let code, let language):
            guard let cut = cut(InlineText(code)) else { return [] }
            if cut.isWhole { return [.code(code, language: language)] }
            return [.text(InlineText([InlineRun(cut.text.text, style: .code)]))]
        case .quote(let inner):
            let isWhole = covers(block)
            let innerBlocks = excerpt(of: inner)
            return isWhole || innerBlocks.count > 1 ? [.quote(innerBlocks)] : innerBlocks
        case .list(let list): return excerpt(of: list, isWhole: covers(block))
        case .table(let table): return excerpt(of: table, isWhole: covers(block))
        case .rule: return range.contains(offset) && offset > 0 ? [.rule] : []
        case .details(let summary, let inner):
            let isWhole = covers(block)
            let cutSummary = summary.isEmpty ? nil : cut(summary)?.text
            let blocks = excerpt(of: inner)
            if isWhole { return [.details(summary: summary, blocks)] }
            return (cutSummary.map { [.text($0)] } ?? []) + blocks
        }
    }

    private mutating func excerpt(of list: BodyList, isWhole: Bool) -> [BodyBlock] {
        var items: [BodyList.Item] = []
        var first: Int?
        for (index, item) in list.items.enumerated() {
            let itemBlocks = excerpt(of: item.blocks)
            guard !itemBlocks.isEmpty else { continue }
            first = first ?? index
            items.append(BodyList.Item(itemBlocks, isChecked: item.isChecked))
        }
        // Text from a single item is not a list.
        if !isWhole, items.count < 2 { return items.flatMap(\.blocks) }
        return [.list(BodyList(start: list.start.map { $0 + (first ?? 0) }, items: items))]
    }

    private mutating func excerpt(of table: BodyTable, isWhole: Bool) -> [BodyBlock] {
        let caption = table.caption.isEmpty ? nil : cut(table.caption)?.text
        let rows = table.displayedRows.map { row in row.compactMap { cut($0.text)?.text } }
        if isWhole { return [.table(table)] }
        let lines = rows.filter { !$0.isEmpty }.map { cells in
            var line = InlineText()
            for (index, cell) in cells.enumerated() {
                if index > 0 { line.append(InlineRun("\t")) }
                line.append(cell)
            }
            return BodyBlock.text(line)
        }
        return (caption.map { [.text($0)] } ?? []) + lines
    }

    /// Whether the range covers all texts of a block.
    private func covers(_ block: BodyBlock) -> Bool {
        let texts = BodyBlock.texts(of: [block])
        guard !texts.isEmpty else { return range.contains(offset) }
        let length = texts.reduce(-1) { $0 + $1.utf8.count + 1 }
        return range.lowerBound <= offset && offset + length <= range.upperBound
    }

    /// Returns the covered part of a text, or `nil` if there is none.
    private mutating func cut(_ text: InlineText) -> (text: InlineText, isWhole: Bool)? {
        let start = offset
        let end = start + text.runs.reduce(0) { $0 + $1.text.utf8.count }
        offset = end + 1
        let clampedRange = range.clamped(to: start..<end)
        guard !clampedRange.isEmpty else { return nil }
        if clampedRange == start..<end { return (text, true) }
        var result = InlineText()
        var runStart = start
        for run in text.runs {
            let runEnd = runStart + run.text.utf8.count
            let runRange = clampedRange.clamped(to: runStart..<runEnd)
            if !runRange.isEmpty {
                var cut = run.with(run.text.characters(runRange.lowerBound - runStart..<runRange.upperBound - runStart))
                // A truncated display name is not a mention.
                if runRange.count < runEnd - runStart, cut.mention != nil { (cut.mention, cut.link) = (nil, nil) }
                result.append(cut)
            }
            runStart = runEnd
        }
        return (result, false)
    }
}

extension String {
    /// Returns the characters that overlap a range of UTF-8 code units.
    fileprivate func characters(_ range: Range<Int>) -> Substring {
        var start = utf8.index(startIndex, offsetBy: range.lowerBound)
        while start > startIndex, Index(start, within: self) == nil { start = utf8.index(before: start) }
        var end = utf8.index(startIndex, offsetBy: range.upperBound)
        while end < endIndex, Index(end, within: self) == nil { end = utf8.index(after: end) }
        return self[start..<end]
    }
}
