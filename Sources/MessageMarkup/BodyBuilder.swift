import ChatCore

/// Builds a ``MessageBody`` from a parser's events: opened and closed containers, and text between them.
struct BodyBuilder {
    enum Container: Equatable {
        case quote
        case list(start: Int?)
        case item(isChecked: Bool?)
        case details, summary
        case table, caption, row
        case cell(isHeader: Bool, BodyTable.Alignment)

        var isItem: Bool { if case .item = self { true } else { false } }
        var isList: Bool { if case .list = self { true } else { false } }
    }

    private struct Frame {
        var container: Container?
        /// The nesting levels it needs as HTML: one more for an item outside a list, and for other content directly in
        /// a list.
        var levels = 1
        var blocks: [BodyBlock] = []
        var items: [BodyList.Item] = []
        /// Items outside a list that follow the blocks. As in a browser, adjacent ones are one list.
        var looseItems: [BodyList.Item] = []
        var rows: [[BodyTable.Cell]] = []
        var cells: [BodyTable.Cell] = []
        /// The caption of a table or the summary of details.
        var title = InlineText()
    }

    /// The formatting of the text that is added next.
    var runTemplate = InlineRun("")

    private let annotator: InlineAnnotator
    /// Whether items that begin with ☑ or ☐ become tasks.
    private let readsTasks: Bool
    private var frames = [Frame()]
    /// The sum of all frames' levels.
    private var depth = 0
    /// The number of open containers that were dropped for being nested too deep.
    private var ignored = 0
    private var inline = InlineText()
    /// Whether white space collapses to nothing here: at the start of a line and after a space.
    private var ignoresSpace = true

    init(annotator: InlineAnnotator, readsTasks: Bool = false) {
        self.annotator = annotator
        self.readsTasks = readsTasks
    }

    // MARK: Text

    /// Adds text verbatim.
    mutating func add(_ text: some StringProtocol) {
        inline.append(runTemplate.with(text))
        ignoresSpace = false
    }

    /// Adds text with white space collapsed as in HTML.
    mutating func addCollapsing(_ text: String) {
        if let endsInSpace = text.collapses(after: ignoresSpace) {
            inline.append(runTemplate.with(text))
            ignoresSpace = endsInSpace
            return
        }
        var collapsed: [UInt8] = []
        for byte in text.utf8 {
            if !byte.isSpace { collapsed.append(byte) } else if !ignoresSpace { collapsed.append(0x20) }
            ignoresSpace = byte.isSpace
        }
        if !collapsed.isEmpty { inline.append(runTemplate.with(String(decoding: collapsed, as: UTF8.self))) }
    }

    mutating func addImage(_ image: ImageReference) {
        var run = runTemplate.with(image.placeholder)
        run.image = image
        ignoresSpace = false
        inline.append(run)
    }

    mutating func breakLine() {
        inline.removeTrailingSpace()
        inline.append(runTemplate.with("\n"))
        ignoresSpace = true
    }

    /// Ends the current paragraph and adds it as a block unless it is empty.
    mutating func endParagraph() {
        let text = drainInline()
        if !text.isEmpty { add(.text(text)) }
    }

    mutating func endHeading(level: Int) {
        let text = drainInline()
        if !text.isEmpty { add(.heading(level: level, text)) }
    }

    private mutating func drainInline() -> InlineText {
        if inline.isEmpty {
            ignoresSpace = true
            return InlineText()
        }
        let text = annotator.applied(to: inline.trimmed)
        inline = InlineText()
        ignoresSpace = true
        return text
    }

    // MARK: Blocks

    mutating func add(_ block: BodyBlock) {
        let top = frames.count - 1
        switch frames[top].container {
        case .list:
            if frames[top].items.isEmpty { frames[top].items.append(BodyList.Item([])) }
            frames[top].items[frames[top].items.count - 1].blocks.append(block)
        case .table, .row:
            // Content between cells goes before the table, as in HTML's foster parenting.
            append(block, to: fosterParent)
        default: append(block, to: top)
        }
    }

    private var fosterParent: Int { frames.lastIndex { $0.container != .table && $0.container != .row } ?? 0 }

    private mutating func append(_ block: BodyBlock, to frame: Int) {
        endLooseItems(of: frame)
        frames[frame].blocks.append(block)
    }

    private mutating func endLooseItems(of frame: Int) {
        guard !frames[frame].looseItems.isEmpty else { return }
        frames[frame].blocks.append(.list(BodyList(items: frames[frame].looseItems)))
        frames[frame].looseItems = []
    }

    mutating func open(_ container: Container) {
        endParagraph()
        let levels = container.isItem == (frames[frames.count - 1].container?.isList ?? false) ? 1 : 2
        guard ignored == 0, depth + levels <= MessageBody.maxDepth else {
            ignored += 1
            return
        }
        depth += levels
        frames.append(Frame(container: container, levels: levels))
    }

    /// Closes the innermost container.
    mutating func close() {
        if closeTextCell() { return }
        endParagraph()
        guard ignored == 0 else {
            ignored -= 1
            return
        }
        endLooseItems(of: frames.count - 1)
        guard frames.count > 1, let frame = frames.popLast(), let container = frame.container else { return }
        depth -= frame.levels
        let top = frames.count - 1
        switch container {
        case .quote: if !frame.blocks.isEmpty { add(.quote(frame.blocks)) }
        case .list(let start): if !frame.items.isEmpty { add(.list(BodyList(start: start, items: frame.items))) }
        case .item(let isChecked):
            close(
                isChecked == nil && readsTasks
                    ? Self.item(frame.blocks) : BodyList.Item(frame.blocks, isChecked: isChecked))
        case .details:
            if !frame.title.isEmpty || !frame.blocks.isEmpty { add(.details(summary: frame.title, frame.blocks)) }
        case .table:
            if !frame.rows.isEmpty {
                add(.table(BodyTable(caption: frame.title, rows: frame.rows)))
            } else if !frame.title.isEmpty {
                add(.text(frame.title))
            }
        case .row: if !frame.cells.isEmpty { frames[top].rows.append(frame.cells) }
        case .cell(let isHeader, let alignment):
            closeCell(InlineText(flattening: frame.blocks), isHeader: isHeader, alignment)
        case .summary, .caption:
            let title = InlineText(flattening: frame.blocks)
            // In any other container it becomes a paragraph.
            let hasTitle = frames[top].container == (container == .summary ? .details : .table)
            if hasTitle, frames[top].title.isEmpty {
                frames[top].title = title
            } else if !title.isEmpty {
                add(.text(title))
            }
        }
    }

    /// Closes a cell that has only text, as nearly all have, without making a block of the text first.
    /// - Returns: `false` if the innermost container is anything else.
    private mutating func closeTextCell() -> Bool {
        let top = frames.count - 1
        guard ignored == 0, case .cell(let isHeader, let alignment)? = frames[top].container,
            frames[top].blocks.isEmpty,
            frames[top].looseItems.isEmpty
        else { return false }
        let text = drainInline()
        depth -= frames.removeLast().levels
        closeCell(text, isHeader: isHeader, alignment)
        return true
    }

    /// Adds the text since ``endParagraph()`` as a cell of the innermost row, without a container for what can only be text.
    /// What is nested too deep becomes a paragraph, as in a cell that is opened.
    mutating func endCell(isHeader: Bool, _ alignment: BodyTable.Alignment) {
        guard ignored == 0, frames[frames.count - 1].container == .row, depth < MessageBody.maxDepth else {
            return endParagraph()
        }
        closeCell(drainInline(), isHeader: isHeader, alignment)
    }

    private mutating func closeCell(_ text: InlineText, isHeader: Bool, _ alignment: BodyTable.Alignment) {
        frames[frames.count - 1].cells.append(BodyTable.Cell(text, isHeader: isHeader, alignment: alignment))
    }

    /// Makes an item that begins with a ballot box a task: the HTML of sent messages represents tasks this way.
    private static func item(_ blocks: [BodyBlock]) -> BodyList.Item {
        guard case .text(let text)? = blocks.first, let first = text.runs.first, !first.isFormatted,
            let box = first.text.unicodeScalars.first, box == "☑" || box == "☐"
        else { return BodyList.Item(blocks) }
        let behind = first.text.unicodeScalars.dropFirst()
        guard behind.first.map({ $0 == " " || $0 == "\n" }) ?? (text.runs.count == 1) else {
            return BodyList.Item(blocks)
        }
        let rest = InlineText([InlineRun(String(behind))] + text.runs.dropFirst()).trimmed
        return BodyList.Item((rest.isEmpty ? [] : [.text(rest)]) + blocks.dropFirst(), isChecked: box == "☑")
    }

    private mutating func close(_ item: BodyList.Item) {
        let top = frames.count - 1
        switch frames[top].container {
        case .list: frames[top].items.append(item)
        case .table, .row: frames[fosterParent].looseItems.append(item)
        default: frames[top].looseItems.append(item)
        }
    }

    /// Closes all containers and returns the body.
    mutating func finished(isEmote: Bool) -> MessageBody {
        while frames.count > 1 || ignored > 0 { close() }
        endParagraph()
        endLooseItems(of: 0)
        return MessageBody(blocks: frames[0].blocks, isEmote: isEmote)
    }
}

extension InlineText {
    /// The text without white space at its ends.
    var trimmed: InlineText {
        // In place: a copy of a run retains each of its parts.
        guard !runs.isEmpty, runs[0].startsWithSpace || runs[runs.count - 1].endsWithSpace else { return self }
        var runs = self.runs[...]
        while let first = runs.first, first.startsWithSpace {
            let rest = first.text.utf8.drop { $0.isSpace }
            if rest.isEmpty { runs.removeFirst() } else { runs[runs.startIndex].text = String(Substring(rest)) }
        }
        while let last = runs.last, last.endsWithSpace {
            let trimmedLength = last.text.utf8.count - last.text.utf8.reversed().prefix { $0.isSpace }.count
            if trimmedLength == 0 {
                runs.removeLast()
            } else {
                runs[runs.endIndex - 1].text = String(Substring(last.text.utf8.prefix(trimmedLength)))
            }
        }
        return InlineText(Array(runs))
    }

    /// Joins the text of blocks with line breaks, where only inline text is allowed.
    init(flattening blocks: [BodyBlock]) {
        // Fast path for nearly every table cell.
        if blocks.count == 1, case .text(let text) = blocks[0] {
            self = text
            return
        }
        self.init(
            lines: blocks.map { block in
                switch block {
                case .text(let text), .heading(_, let text): text
                case .code(let code, _): InlineText([InlineRun(code.withFixedSpaces, style: .code)])
                case .quote(let blocks): InlineText(flattening: blocks)
                case .list(let list): InlineText(flattening: list.items.flatMap(\.blocks))
                case .table(let table):
                    InlineText(
                        lines: [table.caption] + table.rows.map { InlineText(lines: $0.map(\.text), separator: " ") })
                case .rule: InlineText()
                case .details(let summary, let blocks): InlineText(lines: [summary, InlineText(flattening: blocks)])
                }
            })
    }

    private init(lines: [InlineText], separator: String = "\n") {
        self.init()
        for line in lines where !line.isEmpty {
            if !isEmpty { append(InlineRun(separator)) }
            append(line)
        }
    }
}

extension InlineRun {
    // The text first: most runs are decided by it.
    fileprivate var startsWithSpace: Bool { (text.utf8.first?.isSpace ?? true) && image == nil }
    fileprivate var endsWithSpace: Bool { (text.utf8.last?.isSpace ?? true) && image == nil }
}

extension String {
    /// Returns whether the text ends in a space if its white space is collapsed already, else `nil`.
    fileprivate func collapses(after isSpace: Bool) -> Bool? {
        var wasSpace = isSpace
        for byte in utf8 {
            let isSpace = byte.isSpace
            if isSpace, wasSpace || byte != 0x20 { return nil }
            wasSpace = isSpace
        }
        return wasSpace
    }

    /// Replaces white space of code by no-break spaces, which preserve its width in a paragraph.
    fileprivate var withFixedSpaces: String {
        replacing(" ", with: "\u{A0}").replacing("\t", with: "\u{A0}\u{A0}\u{A0}\u{A0}").replacing("\u{C}", with: "\n")
    }
}
