public import ChatCore
import ChatViewModels
import Composer
public import GtkKit

/// Renders the body of a message.
///
/// Plain text uses a single text block that is reused for other messages; anything more structured is rebuilt when the
/// body changes.
public final class MessageBodyView {
    public let widget: Box
    /// Called when the user activates a link.
    public var onLink: ((BodyLink) -> Void)?
    /// Called when the user activates a mention.
    public var onMention: ((ActivatedMention) -> Void)?
    /// Called when the user has expanded or collapsed details, before the layout that shows it.
    var onDetailsToggle: (() -> Void)?
    /// Called with all that is revealed in the body when the user has changed that.
    var onReveal: ((RevealedParts, MessageBody) -> Void)?

    /// The text blocks in reading order.
    private(set) var texts: [BodyText] = []
    private var displayedBody: MessageBody?
    private var displayedSender: String?
    private let first: BodyText
    private var codeBlocks: [CodeBlock] = []
    private var expanders: [Expander] = []
    private var isRevealing = false
    private var depth = 0
    /// The terms whose matches are highlighted; `nil` if the texts have changed since.
    private var highlightedTerms: SearchTerms? = SearchTerms(terms: [])
    /// The number of times that the texts were searched.
    private(set) var searchCount = 0
    /// Whether the last block is one of ``texts``.
    private var endsWithText = true
    private weak var corneredText: BodyText?

    public init() {
        widget = Box(.vertical, spacing: 6)
        widget.addStyle("message-body")
        let text = BodyText.make()
        guard let first = BodyText.of(text) else { fatalError("ParlanceBodyText has no implementation") }
        self.first = first
        text.addStyle("message-text")
        widget.append(text)
        texts = [first]
        listen(to: first)
    }

    /// - Parameter sender: The sender's name, which precedes an emote: "* Ann waves".
    public func show(_ body: MessageBody, sender: String) {
        let sender = body.isEmote ? sender : nil
        guard body != displayedBody || sender != displayedSender else { return }
        displayedBody = body
        displayedSender = sender
        if highlightedTerms?.isEmpty != true { highlightedTerms = nil }
        let isBig = body.isBigEmoji
        widget.setStyle("big-emoji", isBig)
        let blocks = body.blocks(by: sender ?? "")
        endsWithText = blocks.last?.isText ?? true
        if blocks.count <= 1, let text = Self.onlyText(blocks) {
            removeBlocks()
            first.show(TextContent(text, scale: isBig ? 2.6 : 1), selected: nil)
            first.widget.isVisible = true
            texts = [first]
        } else {
            removeBlocks()
            first.widget.isVisible = false
            // Not among the texts, it would stay highlighted when it shows another message.
            first.highlight([])
            texts = []
            add(blocks, to: widget)
        }
    }

    private static func onlyText(_ blocks: [BodyBlock]) -> InlineText? {
        guard let block = blocks.first else { return InlineText() }
        if case .text(let text) = block { return text }
        return nil
    }

    private func removeBlocks() {
        guard !codeBlocks.isEmpty || texts.first !== first || texts.count != 1 else { return }
        codeBlocks = []
        expanders = []
        returnFocus()
        for child in widget.children where !child.isSame(as: first.widget) {
            widget.remove(child)
        }
    }

    // MARK: Revealed parts

    private var revealedParts: RevealedParts {
        var parts = RevealedParts()
        for (number, expander) in expanders.enumerated() where expander.isExpanded { parts.details.insert(number) }
        for (number, text) in texts.enumerated() where !text.revealed.isEmpty { parts.spoilers[number] = text.revealed }
        return parts
    }

    /// Expands and reveals these parts of the displayed body alone.
    func reveal(_ parts: RevealedParts) {
        guard parts != revealedParts else { return }
        isRevealing = true
        defer { isRevealing = false }
        for (number, expander) in expanders.enumerated() { expander.isExpanded = parts.details.contains(number) }
        for (number, text) in texts.enumerated() { text.revealed = parts.spoilers[number] ?? [] }
    }

    private func reportRevealed() {
        if let displayedBody { onReveal?(revealedParts, displayedBody) }
    }

    // MARK: Focus

    /// Returns the focus from a part that will be removed to the message's row: GTK would give it to what comes next.
    private func returnFocus() {
        guard let focus = widget.root?.focus, widget.isAncestor(of: focus), !first.widget.isSame(as: focus) else {
            return
        }
        var row = widget.parent
        while let ancestor = row, !ancestor.isFocusable { row = ancestor.parent }
        row?.grabFocus()
    }

    // MARK: The corner

    /// Keeps the last line clear of what covers the lower trailing corner.
    /// - Parameter size: Returns the size to keep clear; `nil` for none.
    /// - Returns: Whether the body ends with a text, and so stays clear.
    func keepCornerClear(of size: (() -> (width: Int, height: Int))?) -> Bool {
        let text = endsWithText ? texts.last : nil
        if let corneredText, corneredText !== text { corneredText.corner = nil }
        corneredText = text
        text?.corner = size
        return text != nil
    }

    // MARK: Text ranges

    /// The text that can be selected: all text blocks in reading order, separated by line breaks.
    public var selectableText: String { texts.map(\.text).joined(separator: "\n") }

    /// Whether part of the text is selected.
    public var isSelected: Bool { texts.contains { $0.selected != nil } }

    /// Draws a range as selected.
    /// - Parameter range: In UTF-8 offsets of ``selectableText``, or `nil` for no selection.
    public func select(_ range: Range<Int>?) {
        var start = 0
        for text in texts {
            let end = start + text.text.utf8.count
            text.select(range.map { $0.clamped(to: start..<end) }.flatMap { $0.isEmpty ? nil : $0.shifted(by: -start) })
            start = end + 1
        }
    }

    /// Highlights the matches of a search. Each step from one match to the next calls this for all rows.
    func highlight(_ terms: SearchTerms) {
        guard terms != highlightedTerms else { return }
        highlightedTerms = terms
        if !terms.isEmpty { searchCount += 1 }
        for text in texts { text.highlight(terms.isEmpty ? [] : terms.ranges(in: text.text)) }
    }

    /// The highlighted text, or `nil` if there is none.
    var highlightedText: String? {
        let highlighted = texts.flatMap { text in
            text.highlightedRanges.map { String(decoding: Array(text.text.utf8)[$0], as: UTF8.self) }
        }
        return highlighted.isEmpty ? nil : highlighted.joined(separator: " ")
    }

    /// The UTF-8 offset in ``selectableText`` nearest to a point in the coordinates of an ancestor.
    public func offset(atX x: Double, y: Double, in other: Widget) -> Int {
        var (start, best) = (0, 0)
        for text in texts {
            let count = text.text.utf8.count
            let textWidget = text.widget
            guard let point = other.translate(x: x, y: y, to: textWidget) else {
                start += count + 1
                continue
            }
            // The text blocks are stacked vertically, except for the cells of a table.
            let isBeside = point.x < 0 || point.x > Double(textWidget.width)
            if point.y >= 0, !(isBeside && texts.count > 1 && point.y > Double(textWidget.height)) || start == 0 {
                best = start + text.offset(atX: point.x, y: point.y)
            }
            if point.y >= 0, point.y < Double(textWidget.height), !isBeside { return best }
            start += count + 1
        }
        return best
    }

    /// The link at a point in the coordinates of an ancestor, or `nil` if there is none or a spoiler covers it.
    func link(atX x: Double, y: Double, in other: Widget) -> BodyLink? {
        for text in texts {
            let textWidget = text.widget
            // That of collapsed details is unmapped.
            guard textWidget.isMapped, let point = other.translate(x: x, y: y, to: textWidget),
                textWidget.contains(x: point.x, y: point.y)
            else { continue }
            guard let index = text.action(atX: point.x, y: point.y), case .link(let link) = text.actions[index].kind
            else { return nil }
            return link
        }
        return nil
    }

    // MARK: Blocks

    /// The nesting depth beyond which blocks are flattened: GTK measures deeply nested boxes ever more slowly, and no
    /// width remains for the text.
    private static let maxDepth = 8

    private func add(_ blocks: [BodyBlock], to box: Box) {
        depth += 1
        defer { depth -= 1 }
        for block in blocks {
            switch block {
            case .quote(let inner) where depth > Self.maxDepth: add(inner, to: box)
            case .list(let list) where depth > Self.maxDepth: add(list.items.flatMap(\.blocks), to: box)
            case .details(let summary, let inner) where depth > Self.maxDepth:
                add((summary.isEmpty ? [] : [.text(summary)]) + inner, to: box)
            default:
                box.append(made(block))
            }
        }
    }

    private func made(_ block: BodyBlock) -> Widget {
        switch block {
        case .text(let text): return made(TextContent(text))
        case .heading(let level, let text):
            return made(
                TextContent(text, scale: [1.5, 1.3, 1.15, 1.05, 1, 1][min(max(level, 1), 6) - 1], isBold: true))
        case .code(let code, let language):
            let block = CodeBlock(code, language: language)
            codeBlocks.append(block)
            texts.append(block.text)
            return block.widget
        case .quote(let blocks):
            let box = Box(.vertical, spacing: 6)
            box.addStyle("body-quote")
            add(blocks, to: box)
            return box
        case .list(let list): return made(list)
        case .table(let table): return made(table)
        case .rule:
            let rule = Separator(.horizontal)
            rule.addStyle("message-rule")
            return rule
        case .details(let summary, let blocks): return made(summary, blocks)
        }
    }

    private func made(_ content: TextContent) -> Widget {
        let widget = BodyText.make()
        guard let text = BodyText.of(widget) else { return widget }
        text.show(content)
        listen(to: text)
        texts.append(text)
        return widget
    }

    private func listen(to text: BodyText) {
        text.onReveal = { [weak self] in self?.reportRevealed() }
        text.onAction = { [weak self, weak text] action in
            guard let self, let text else { return }
            switch action.kind {
            case .link(let link): onLink?(link)
            case .mention(let target):
                let mention = Mention(target, text: text.words(of: action))
                onMention?(ActivatedMention(mention: mention, text: text.widget, bounds: text.bounds(of: action)))
            case .spoiler: break
            }
        }
    }

    /// Rows of a marker and the item's content beside it.
    private func made(_ list: BodyList) -> Widget {
        let rows = Box(.vertical, spacing: 3)
        let markers = list.items.enumerated().map { index, item in
            item.isChecked.map { $0 ? "☑" : "☐" } ?? list.start.map { "\($0 + index)." } ?? "•"
        }
        let widest = markers.map(\.count).max() ?? 1
        for (marker, item) in zip(markers, list.items) {
            let label = Label(marker)
            label.addStyle("message-list-mark")
            label.xalign = 1
            if widest > 1 { label.widthChars = widest }
            label.valign = .start
            let content = Box(.vertical, spacing: 3)
            content.hexpand = true
            add(item.blocks, to: content)
            let row = Box(.horizontal, spacing: 6)
            row.append(label)
            row.append(content)
            rows.append(row)
        }
        return rows
    }

    private func made(_ table: BodyTable) -> Widget {
        let grid = Grid()
        grid.addStyle("message-table")
        let caption = table.caption.isEmpty ? nil : made(TextContent(table.caption, isBold: true))
        for (row, cells) in table.displayedRows.enumerated() {
            for (column, cell) in cells.enumerated() {
                var content = TextContent(cell.text, isBold: cell.isHeader)
                content.lineLength = 30
                content.isRigid = true
                let text = made(content)
                text.halign = cell.alignment.layout
                text.valign = .start
                let cellBox = Box(.vertical)
                cellBox.addStyle(cell.isHeader ? "message-table-header" : "message-table-cell")
                cellBox.append(text)
                grid.attach(cellBox, column: column, row: row)
            }
        }
        let scroller = ScrolledWindow(sideways: grid)
        scroller.maxContentWidth = BodyText.maxWidth
        guard let caption else { return scroller }
        let box = Box(.vertical, spacing: 3)
        box.append(caption)
        box.append(scroller)
        return box
    }

    private func made(_ summary: InlineText, _ blocks: [BodyBlock]) -> Widget {
        let label: Widget = summary.isEmpty ? Label(translated("Details")) : made(TextContent(summary, isBold: true))
        let content = Box(.vertical, spacing: 6)
        content.addStyle("message-details")
        add(blocks, to: content)
        let expander = Expander(label: label, child: content)
        expanders.append(expander)
        expander.connect("notify::expanded") { [weak self] _ in
            guard let self, !isRevealing else { return }
            onDetailsToggle?()
            reportRevealed()
        }
        return expander
    }
}

extension BodyBlock {
    fileprivate var isText: Bool {
        switch self {
        case .text, .heading: true
        default: false
        }
    }
}

extension BodyTable.Alignment {
    fileprivate var layout: GtkKit.Alignment {
        switch self {
        case .start: .start
        case .center: .center
        case .end: .end
        }
    }
}

extension Range<Int> {
    fileprivate func shifted(by distance: Int) -> Range<Int> { lowerBound + distance..<upperBound + distance }
}
