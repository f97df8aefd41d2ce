public import ChatCore
import Composer

/// A body reduced to what editable text can express, and the resulting losses.
struct WritableBody {
    private(set) var blocks: [BodyBlock] = []
    private(set) var losses: Set<MarkupLoss> = []

    /// - Parameter mentionsEveryone: Whether `@room` in the text mentions everyone.
    init(_ body: MessageBody, mentionsEveryone: Bool) {
        findsEveryone = mentionsEveryone
        blocks = writable(body.blocks)
    }

    private let findsEveryone: Bool

    private mutating func writable(_ blocks: [BodyBlock]) -> [BodyBlock] {
        blocks.flatMap { block -> [BodyBlock] in
            switch block {
            case .text(let text):
                let (paragraphs, maxBreaks) = writable(text).paragraphs
                if maxBreaks > 2 { losses.insert(.spacing) }
                return paragraphs.map { .text($0) }
            case .heading(let level, let text): return [.heading(level: level, line(writable(text), .spacing))]
            case .code, .rule: return [block]
            case .quote(let blocks): return [.quote(writable(blocks))]
            case .list(let list):
                let items = list.items.map { BodyList.Item(writable($0.blocks), isChecked: $0.isChecked) }
                return [.list(BodyList(start: list.start, items: items))]
            case .table(let table): return writable(table)
            case .details(let summary, let blocks):
                losses.insert(.details)
                return (summary.isEmpty ? [] : writable([.text(summary)])) + writable(blocks)
            }
        }
    }

    private mutating func writable(_ table: BodyTable) -> [BodyBlock] {
        var table = table
        let width = table.rows.map(\.count).max() ?? 0
        for row in table.rows.indices {
            let isHead = row == 0
            if isHead ? table.rows[row].count < width : table.rows[row].contains(where: \.isHeader) {
                losses.insert(.table)
            }
            if isHead, !table.rows[row].allSatisfy(\.isHeader) { losses.insert(.table) }
            for cell in table.rows[row].indices {
                table.rows[row][cell].text = line(writable(table.rows[row][cell].text), .table)
                table.rows[row][cell].isHeader = isHead
                // Markdown has one alignment per column.
                if !isHead, cell < table.rows[0].count {
                    table.rows[row][cell].alignment = table.rows[0][cell].alignment
                }
            }
            while table.rows[row].count < width {
                let alignment = row > 0 ? table.rows[0][table.rows[row].count].alignment : .start
                table.rows[row].append(BodyTable.Cell(InlineText(), isHeader: isHead, alignment: alignment))
            }
        }
        guard !table.caption.isEmpty else { return [.table(table)] }
        losses.insert(.table)
        let caption = table.caption
        table.caption = InlineText()
        return writable([.text(caption)]) + [.table(table)]
    }

    private mutating func writable(_ text: InlineText) -> InlineText {
        let isSimple = text.runs.allSatisfy { $0.image == nil && $0.mention == nil && $0.spoiler == nil }
        if isSimple, !findsEveryone { return text }
        return InlineText(
            text.runs.flatMap { run -> [InlineRun] in
                var run = run
                if run.image != nil {
                    losses.insert(.image)
                    run.image = nil
                }
                if run.mention != nil, run.text.contains("\n") {
                    losses.insert(.spacing)
                    run.text.replace("\n", with: " ")
                }
                let isOpen = run.mention == nil && run.link == nil && !run.style.contains(.code)
                return findsEveryone && isOpen ? Self.everyone(in: run) : [run]
            })
    }

    /// Splits a run at mentions of everyone.
    private static func everyone(in run: InlineRun) -> [InlineRun] {
        let name = MentionTarget.everyoneID
        var runs: [InlineRun] = []
        var rest = run.text[...]
        var before: Character?
        while let range = rest.firstRange(of: name) {
            let next = range.upperBound < rest.endIndex ? rest[range.upperBound] : nil
            let last = range.lowerBound > rest.startIndex ? rest[rest.index(before: range.lowerBound)] : before
            let isWhole = [last, next].allSatisfy { !($0?.isLetter ?? false) && !($0?.isNumber ?? false) }
            runs.append(run.with(rest[..<range.lowerBound]))
            var named = run.with(rest[range])
            if isWhole { named.mention = .everyone }
            runs.append(named)
            before = rest[range].last
            rest = rest[range.upperBound...]
        }
        return runs + [run.with(rest)]
    }

    /// Replaces line breaks by spaces and records the loss.
    private mutating func line(_ text: InlineText, _ loss: MarkupLoss) -> InlineText {
        guard text.runs.contains(where: { $0.text.contains("\n") }) else { return text }
        losses.insert(loss)
        return InlineText(text.runs.map { $0.with($0.text.replacing("\n", with: " ")) })
    }
}

extension MessageBody {
    /// Whether both bodies read the same: formatting of white space, blank lines between paragraphs and the form of a
    /// mention's address are ignored. Editing a received message preserves this much.
    public func readsLike(_ other: MessageBody) -> Bool {
        self == other || canonical(isCollapsed: false) == other.canonical(isCollapsed: false)
    }

    /// The canonical form for comparing bodies: white space without formatting, mentions without address.
    ///
    /// - Parameter isCollapsed: Whether any white space counts as one space.
    func canonical(isCollapsed: Bool) -> MessageBody {
        MessageBody(blocks: Self.canonical(blocks, isCollapsed), isEmote: isEmote)
    }

    private static func canonical(_ blocks: [BodyBlock], _ isCollapsed: Bool) -> [BodyBlock] {
        blocks.flatMap { block -> [BodyBlock] in
            if case .text(let text) = block { return text.paragraphs.parts.map { .text($0.canonical(isCollapsed)) } }
            return [canonical(block, isCollapsed)]
        }
    }

    private static func canonical(_ block: BodyBlock, _ isCollapsed: Bool) -> BodyBlock {
        switch block {
        case .heading(let level, let text): .heading(level: level, text.canonical(isCollapsed))
        case .text, .code, .rule: block
        case .quote(let blocks): .quote(canonical(blocks, isCollapsed))
        case .list(let list):
            .list(
                BodyList(
                    start: list.start,
                    items: list.items.map {
                        BodyList.Item(canonical($0.blocks, isCollapsed), isChecked: $0.isChecked)
                    }))
        case .table(let table):
            .table(
                BodyTable(
                    caption: table.caption.canonical(isCollapsed),
                    rows: table.rows.map { row in
                        row.map {
                            BodyTable.Cell(
                                $0.text.canonical(isCollapsed), isHeader: $0.isHeader, alignment: $0.alignment)
                        }
                    }))
        case .details(let summary, let blocks):
            .details(summary: summary.canonical(isCollapsed), canonical(blocks, isCollapsed))
        }
    }
}

extension InlineText {
    /// The parts between blank lines, which are separate paragraphs in Markdown.
    fileprivate var paragraphs: (parts: [InlineText], mostBreaks: Int) {
        var paragraphs = [InlineText()]
        /// The number of line breaks not yet written, and the formatting of the first.
        var breaks = 0
        var breakRun = InlineRun("")
        var maxBreaks = 0
        for run in runs {
            guard run.mention == nil, run.text.utf8.contains(0x0A) || breaks > 0 else {
                endLine(run)
                continue
            }
            for (index, line) in run.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                if index > 0 {
                    if breaks == 0 { breakRun = run }
                    breaks += 1
                }
                // A line of white space only is blank.
                let isBlank = breaks > 0 && line.utf8.allSatisfy(\.isSpace)
                if !isBlank { endLine(run.with(line)) }
            }
        }
        func endLine(_ run: InlineRun) {
            maxBreaks = max(maxBreaks, breaks)
            if breaks > 1, !paragraphs[paragraphs.count - 1].isEmpty { paragraphs.append(InlineText()) }
            if breaks == 1 { paragraphs[paragraphs.count - 1].append(breakRun.with("\n")) }
            breaks = 0
            paragraphs[paragraphs.count - 1].append(run)
        }
        return (paragraphs.map(\.trimmed).filter { !$0.isEmpty }, maxBreaks)
    }

    fileprivate func canonical(_ isCollapsed: Bool) -> InlineText {
        var result = InlineText()
        var followsSpace = true
        for run in runs {
            var run = run
            if let link = run.link { run.link = run.mention == nil ? BodyLink(unjudged: link.target) : nil }
            guard run.isFormatted || isCollapsed else {
                result.append(run)
                continue
            }
            for chunk in run.text.utf8.chunks(where: \.isSpace) {
                let text = String(Substring(chunk.bytes))
                if !chunk.holds {
                    result.append(run.with(text))
                } else if !isCollapsed {
                    result.append(InlineRun(text))
                } else if !followsSpace {
                    result.append(InlineRun(" "))
                }
                followsSpace = chunk.holds
            }
        }
        return result
    }
}

extension Substring.UTF8View {
    /// Splits the bytes into maximal runs for which the condition has the same value.
    fileprivate func chunks(where condition: (UInt8) -> Bool) -> [(bytes: Substring.UTF8View, holds: Bool)] {
        var chunks: [(bytes: Substring.UTF8View, holds: Bool)] = []
        var rest = self
        while let first = rest.first {
            let holds = condition(first)
            let end = rest.firstIndex { condition($0) != holds } ?? rest.endIndex
            chunks.append((rest[..<end], holds))
            rest = rest[end...]
        }
        return chunks
    }
}

extension String.UTF8View {
    fileprivate func chunks(where condition: (UInt8) -> Bool) -> [(bytes: Substring.UTF8View, holds: Bool)] {
        self[...].chunks(where: condition)
    }
}
