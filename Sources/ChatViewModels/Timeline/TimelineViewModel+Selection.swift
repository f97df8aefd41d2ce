public import ChatCore
public import Composer
import MessageMarkup

/// Text selection, within a message and across messages.
extension TimelineViewModel {
    /// The selected part of a message's ``MessageItem/selectableText``, in UTF-8 code units, or `nil` if none is
    /// selected.
    public func selectedRange(in item: MessageItem) -> Range<Int>? {
        guard let selection, !selection.isEmpty, let position = loaded.position(of: item.id),
            let (low, high) = orderedEnds, low.position <= position, position <= high.position
        else { return nil }
        let end = item.selectableText.utf8.count
        let from = low.position == position ? min(low.offset, end) : 0
        let to = high.position == position ? min(high.offset, end) : end
        return from < to ? from..<to : nil
    }

    /// Returns the selected text of the loaded messages with their senders, or `nil` if nothing is selected.
    public func copySelection() -> ClipboardFragment? {
        guard selection?.isEmpty == false, let (low, high) = orderedEnds else { return nil }
        let first = loaded.index(of: low.position)
        var copies: [CopiedMessage] = []
        for message in loaded.messages[first...].prefix(while: { $0.position <= high.position }) {
            guard let item = rows.message(message.id), let range = selectedRange(in: item) else { continue }
            copies.append(CopiedMessage(item, in: range))
        }
        return copies.isEmpty ? nil : ClipboardFragment(copies)
    }

    /// Selects the text of all loaded messages.
    public func selectAll() {
        guard let first = loaded.messages.first,
            let last = loaded.messages.reversed().lazy.compactMap({ self.rows.message($0.id) }).first
        else { return }
        selection = MessageSelection(
            anchor: TextPoint(message: first.id, offset: 0),
            focus: TextPoint(message: last.id, offset: last.selectableText.utf8.count))
    }

    /// Moves the selection's focus, starting a selection at `message` if there is none.
    public func extendSelection(_ step: SelectionStep, forward: Bool, from message: MessageID) {
        var next: MessageSelection
        if let selection, loaded.position(of: selection.focus.message) != nil {
            next = selection
        } else {
            guard let item = rows.message(message) else { return }
            // Moving up starts at the end, which selects this message rather than the one above it.
            let startsAtEnd = step == .message && !forward
            let start = TextPoint(message: message, offset: startsAtEnd ? item.selectableText.utf8.count : 0)
            next = MessageSelection(anchor: start, focus: start)
        }
        guard let focus = moved(next.focus, step, forward) else { return }
        next.focus = focus
        selection = next
    }

    private func moved(_ point: TextPoint, _ step: SelectionStep, _ forward: Bool) -> TextPoint? {
        guard let item = rows.message(point.message) else { return nil }
        let text = item.selectableText
        let index = text.characterIndex(point.offset)
        let edge = forward ? text.endIndex : text.startIndex
        guard index != edge else { return neighbor(of: point.message, forward: forward, step) }
        let target: String.Index =
            switch step {
            case .message: edge
            case .character: forward ? text.index(after: index) : text.index(before: index)
            case .word: text.wordBoundary(from: index, forward: forward)
            }
        return TextPoint(message: point.message, offset: text.offset(target))
    }

    private func neighbor(of id: MessageID, forward: Bool, _ step: SelectionStep) -> TextPoint? {
        guard let position = loaded.position(of: id) else { return nil }
        let way = forward ? 1 : -1
        var index = loaded.index(of: position) + way
        // Room events have no selectable text.
        while loaded.messages.indices.contains(index), loaded.messages[index].event != nil { index += way }
        guard loaded.messages.indices.contains(index), let item = rows.message(loaded.messages[index].id) else {
            return nil
        }
        let end = item.selectableText.utf8.count
        // A character or word step enters the adjacent message at its near end; a message step selects it whole.
        let atEnd = step == .message ? forward : !forward
        return TextPoint(message: item.id, offset: atEnd ? end : 0)
    }

    private struct End {
        var position: Int64
        var offset: Int
    }

    /// The endpoints in text order. For a message no longer in memory, its last known position is used.
    private var orderedEnds: (End, End)? {
        guard let selection, let anchor = end(selection.anchor), let focus = end(selection.focus) else { return nil }
        let inOrder = (anchor.position, anchor.offset) <= (focus.position, focus.offset)
        return inOrder ? (anchor, focus) : (focus, anchor)
    }

    private func end(_ point: TextPoint) -> End? {
        if let position = loaded.position(of: point.message) {
            selectionPositions[point.message] = position
            return End(position: position, offset: point.offset)
        }
        return selectionPositions[point.message].map { End(position: $0, offset: point.offset) }
    }
}

/// The part of a message that is copied.
private nonisolated struct CopiedMessage {
    var sender: String
    var text: String
    var body: MessageBody

    /// Copies the whole message.
    init(_ item: MessageItem) {
        sender = item.senderName
        text = item.text
        // Rows truncate long messages; copy the full text instead.
        body = item.isShortened ? MessageBody(plain: item.text) : item.body
    }

    /// - Parameter range: in UTF-8 code units of ``MessageItem/selectableText``.
    init(_ item: MessageItem, in range: Range<Int>) {
        let selectable = item.selectableText
        if item.isShortened, range == 0..<selectable.utf8.count {
            self = CopiedMessage(item)
            return
        }
        sender = item.senderName
        text = String(
            selectable[selectable.characterIndex(range.lowerBound)..<selectable.characterIndex(range.upperBound)])
        body = item.body.excerpt(range, saidBy: item.senderName)
    }

    /// The content, preceded by the sender's name.
    var blocks: [BodyBlock] {
        var first = InlineText([InlineRun("\(sender):", style: .bold), InlineRun(" ")])
        guard case .text(let content)? = body.blocks.first else { return [.text(first)] + body.blocks }
        first.append(content)
        return [.text(first)] + body.blocks.dropFirst()
    }
}

nonisolated extension ClipboardFragment {
    /// Above this many bytes a pasted text has no formatting: serializing it takes too long on the main thread.
    private static let maxFormattedBytes = 32_768

    /// Copies one whole message.
    public init(copying item: MessageItem) {
        self.init([CopiedMessage(item)])
    }

    /// Copies several whole messages.
    init(copying items: [MessageItem]) {
        self.init(items.map { CopiedMessage($0) })
    }

    /// A single message is copied without its sender.
    fileprivate init(_ copies: [CopiedMessage]) {
        let text =
            copies.count == 1 ? copies[0].text : copies.map { "\($0.sender): \($0.text)" }.joined(separator: "\n")
        let body = copies.count == 1 ? copies[0].body : MessageBody(blocks: copies.flatMap(\.blocks))
        let isLong = text.utf8.count > Self.maxFormattedBytes
        self.init(
            isLong ? WrittenText(text) : MessageMarkup.written(body: body).text, plainText: text,
            html: MessageMarkup.html(of: body))
    }
}

nonisolated extension String {
    /// Skips separators, then a word, as GTK text widgets do.
    fileprivate func wordBoundary(from position: Index, forward: Bool) -> Index {
        func isWord(_ index: Index) -> Bool { self[index].isLetter || self[index].isNumber }
        var position = position
        if forward {
            while position < endIndex, !isWord(position) { position = index(after: position) }
            while position < endIndex, isWord(position) { position = index(after: position) }
        } else {
            while position > startIndex, !isWord(index(before: position)) { position = index(before: position) }
            while position > startIndex, isWord(index(before: position)) { position = index(before: position) }
        }
        return position
    }
}
