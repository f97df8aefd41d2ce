import ChatCore
import Composer

/// The selected text, within a message or across several.
nonisolated struct TextSelection: Sendable {
    private(set) var range: MessageSelection?
    /// The last known positions of the endpoints, whose messages may have been dropped from memory.
    private var positions: [MessageID: Int64] = [:]

    /// Whether some text is selected.
    var isEmpty: Bool { range?.isEmpty ?? true }

    /// - Returns: whether the selection changed.
    mutating func select(_ selection: MessageSelection?, in loaded: LoadedMessages) -> Bool {
        guard selection != range else { return false }
        range = selection
        let ends = [selection?.anchor.message, selection?.focus.message]
        positions = positions.filter { ends.contains($0.key) }
        notePositions(in: loaded)
        return true
    }

    /// Remembers where the endpoints are while their messages are loaded.
    mutating func notePositions(in loaded: LoadedMessages) {
        guard let range else { return }
        for id in [range.anchor.message, range.focus.message] {
            if let position = loaded.position(of: id) { positions[id] = position }
        }
    }

    // MARK: Reading

    /// The selected part of a message's ``MessageItem/selectableText``, in UTF-8 code units, or `nil` if none is
    /// selected.
    func range(in item: MessageItem, of loaded: LoadedMessages) -> Range<Int>? {
        guard !isEmpty, let position = loaded.position(of: item.id), let (low, high) = orderedEnds(in: loaded),
            low.position <= position, position <= high.position
        else { return nil }
        let end = item.selectableText.utf8.count
        let from = low.position == position ? min(low.offset, end) : 0
        let to = high.position == position ? min(high.offset, end) : end
        return from < to ? from..<to : nil
    }

    /// The selected text of the loaded messages with their senders, or `nil` if nothing is selected.
    func fragment(of loaded: LoadedMessages, _ rows: TimelineRows) -> ClipboardFragment? {
        guard !isEmpty, let (low, high) = orderedEnds(in: loaded) else { return nil }
        let first = loaded.index(of: low.position)
        var copies: [CopiedMessage] = []
        for message in loaded.messages[first...].prefix(while: { $0.position <= high.position }) {
            guard let item = rows.message(message.id), let range = range(in: item, of: loaded) else { continue }
            copies.append(CopiedMessage(item, in: range))
        }
        return copies.isEmpty ? nil : ClipboardFragment(copies)
    }

    private struct End {
        var position: Int64
        var offset: Int
    }

    /// The endpoints in text order. For a message no longer in memory, its last known position is used.
    private func orderedEnds(in loaded: LoadedMessages) -> (End, End)? {
        guard let range, let anchor = end(range.anchor, in: loaded), let focus = end(range.focus, in: loaded) else {
            return nil
        }
        let inOrder = (anchor.position, anchor.offset) <= (focus.position, focus.offset)
        return inOrder ? (anchor, focus) : (focus, anchor)
    }

    private func end(_ point: TextPoint, in loaded: LoadedMessages) -> End? {
        (loaded.position(of: point.message) ?? positions[point.message]).map {
            End(position: $0, offset: point.offset)
        }
    }

    // MARK: Extending

    /// The selection after its focus moved by a step. It starts at a message if there was none.
    func extended(
        by step: SelectionStep, forward: Bool, from message: MessageID, in loaded: LoadedMessages, _ rows: TimelineRows
    ) -> MessageSelection? {
        var next: MessageSelection
        if let range, loaded.position(of: range.focus.message) != nil {
            next = range
        } else {
            guard let item = rows.message(message) else { return nil }
            // Moving up starts at the end, which selects this message rather than the one above it.
            let startsAtEnd = step == .message && !forward
            let start = TextPoint(message: message, offset: startsAtEnd ? item.selectableText.utf8.count : 0)
            next = MessageSelection(anchor: start, focus: start)
        }
        guard let focus = moved(next.focus, step, forward, in: loaded, rows) else { return nil }
        next.focus = focus
        return next
    }

    private func moved(
        _ point: TextPoint, _ step: SelectionStep, _ forward: Bool, in loaded: LoadedMessages, _ rows: TimelineRows
    ) -> TextPoint? {
        guard let item = rows.message(point.message) else { return nil }
        let text = item.selectableText
        let index = text.characterIndex(point.offset)
        let edge = forward ? text.endIndex : text.startIndex
        guard index != edge else { return neighbor(of: point.message, forward: forward, step, in: loaded, rows) }
        let target: String.Index =
            switch step {
            case .message: edge
            case .character: forward ? text.index(after: index) : text.index(before: index)
            case .word: text.wordBoundary(from: index, forward: forward)
            }
        return TextPoint(message: point.message, offset: text.offset(target))
    }

    private func neighbor(
        of id: MessageID, forward: Bool, _ step: SelectionStep, in loaded: LoadedMessages, _ rows: TimelineRows
    ) -> TextPoint? {
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
}

nonisolated extension MessageSelection {
    /// Selects the text of all loaded messages, or returns `nil` if there is none.
    static func all(of loaded: LoadedMessages, _ rows: TimelineRows) -> MessageSelection? {
        guard let first = loaded.messages.first,
            let last = loaded.messages.reversed().lazy.compactMap({ rows.message($0.id) }).first
        else { return nil }
        return MessageSelection(
            anchor: TextPoint(message: first.id, offset: 0),
            focus: TextPoint(message: last.id, offset: last.selectableText.utf8.count))
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
