public import ChatCore
import MessageMarkup

/// Text that is selected, within a message and across messages.
extension TimelineViewModel {
    /// What of a message's ``MessageItem/selectableText`` is selected, in UTF-8 units; nil for nothing.
    public func selectedRange(in item: MessageItem) -> Range<Int>? {
        guard let selection, !selection.isEmpty, let position = loaded.position(of: item.id),
            let (low, high) = orderedEnds, low.position <= position, position <= high.position
        else { return nil }
        let end = item.selectableText.utf8.count
        let from = low.position == position ? min(low.offset, end) : 0
        let to = high.position == position ? min(high.offset, end) : end
        return from < to ? from..<to : nil
    }

    /// The selected text with its senders, as far as it is loaded; nil if nothing is selected.
    public func copySelection() -> CopiedMessages? {
        guard selection?.isEmpty == false, let (low, high) = orderedEnds else { return nil }
        let first = loaded.index(of: low.position)
        var parts: [(item: MessageItem, text: String)] = []
        for message in loaded.messages[first...].prefix(while: { $0.position <= high.position }) {
            guard let item = rows.message(message.id), let range = selectedRange(in: item) else { continue }
            parts.append((item, selectedText(of: item, in: range)))
        }
        return parts.isEmpty ? nil : CopiedMessages(parts)
    }

    /// All of what is loaded.
    public func selectAll() {
        guard let first = loaded.messages.first,
            let last = loaded.messages.reversed().lazy.compactMap({ self.rows.message($0.id) }).first
        else { return }
        selection = MessageSelection(
            anchor: TextPoint(message: first.id, offset: 0),
            focus: TextPoint(message: last.id, offset: last.selectableText.utf8.count))
    }

    /// Moves the selection's end; without a selection one begins at the message.
    public func extendSelection(_ step: SelectionStep, forward: Bool, from message: MessageID) {
        var next: MessageSelection
        if let selection, loaded.position(of: selection.focus.message) != nil {
            next = selection
        } else {
            guard let item = rows.message(message) else { return }
            // Up takes the message from its end, so that it is selected and not what is before it.
            let isUp = step == .message && !forward
            let start = TextPoint(message: message, offset: isUp ? item.selectableText.utf8.count : 0)
            next = MessageSelection(anchor: start, focus: start)
        }
        guard let focus = moved(next.focus, step, forward) else { return }
        next.focus = focus
        selection = next
    }

    private func moved(_ point: TextPoint, _ step: SelectionStep, _ forward: Bool) -> TextPoint? {
        guard let item = rows.message(point.message) else { return nil }
        let text = item.selectableText
        let place = text.place(point.offset)
        let edge = forward ? text.endIndex : text.startIndex
        guard place != edge else { return neighbour(of: point.message, forward: forward, step) }
        let target: String.Index =
            switch step {
            case .message: edge
            case .character: forward ? text.index(after: place) : text.index(before: place)
            case .word: text.wordBoundary(from: place, forward: forward)
            }
        return TextPoint(message: point.message, offset: text.offset(target))
    }

    private func neighbour(of id: MessageID, forward: Bool, _ step: SelectionStep) -> TextPoint? {
        guard let position = loaded.position(of: id) else { return nil }
        let way = forward ? 1 : -1
        var index = loaded.index(of: position) + way
        // What merely happened has no text.
        while loaded.messages.indices.contains(index), loaded.messages[index].event != nil { index += way }
        guard loaded.messages.indices.contains(index), let item = rows.message(loaded.messages[index].id) else {
            return nil
        }
        let end = item.selectableText.utf8.count
        // A step over the edge of a message lands within the next one, a message's step at its far end.
        let atEnd = step == .message ? forward : !forward
        return TextPoint(message: item.id, offset: atEnd ? end : 0)
    }

    private struct End {
        var position: Int64
        var offset: Int
    }

    /// The ends in the order of the text. One whose message is not loaded any more is where that was.
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

    private func selectedText(of item: MessageItem, in range: Range<Int>) -> String {
        let text = item.selectableText
        // Whoever selects all that a row shows of a long text means the text.
        if item.isShortened, range == 0..<text.utf8.count { return item.text }
        return String(text[text.place(range.lowerBound)..<text.place(range.upperBound)])
    }
}

nonisolated extension CopiedMessages {
    /// One message, all of its text.
    public init(_ item: MessageItem) {
        self.init([(item, item.text)])
        if !item.isShortened, item.body.unstyledText == nil { html = MessageMarkup.html(of: item.body) }
    }

    /// Messages, all of their texts.
    init(whole items: [MessageItem]) {
        if items.count == 1, let item = items.first {
            self.init(item)
        } else {
            self.init(items.map { ($0, $0.text) })
        }
    }

    /// A single message is its text alone.
    fileprivate init(_ parts: [(item: MessageItem, text: String)]) {
        if parts.count == 1, let part = parts.first {
            self.init(text: part.text, html: "<p>\(part.text.escapedForHTML)</p>")
        } else {
            self.init(
                text: parts.map { "\($0.item.senderName): \($0.text)" }.joined(separator: "\n"),
                html: parts.map {
                    "<p><strong>\($0.item.senderName.escapedForHTML):</strong> \($0.text.escapedForHTML)</p>"
                }.joined(separator: "\n"))
        }
    }
}

nonisolated extension String {
    /// Over blanks and then over a word, as text fields go.
    fileprivate func wordBoundary(from place: Index, forward: Bool) -> Index {
        func isWord(_ index: Index) -> Bool { self[index].isLetter || self[index].isNumber }
        var place = place
        if forward {
            while place < endIndex, !isWord(place) { place = index(after: place) }
            while place < endIndex, isWord(place) { place = index(after: place) }
        } else {
            while place > startIndex, !isWord(index(before: place)) { place = index(before: place) }
            while place > startIndex, isWord(index(before: place)) { place = index(before: place) }
        }
        return place
    }
}
