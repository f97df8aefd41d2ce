public import ChatCore

/// A place in a message's text.
public nonisolated struct TextPoint: Hashable, Sendable {
    public var message: MessageID
    /// UTF-8 units into ``MessageItem/selectableText``; between two characters.
    public var offset: Int

    public init(message: MessageID, offset: Int) {
        self.message = message
        self.offset = offset
    }
}

/// The text that is selected, within one message or across several, by places that outlive the rows.
public nonisolated struct MessageSelection: Hashable, Sendable {
    /// Where selecting began.
    public var anchor: TextPoint
    /// The end that moves.
    public var focus: TextPoint

    public init(anchor: TextPoint, focus: TextPoint) {
        self.anchor = anchor
        self.focus = focus
    }

    public var isEmpty: Bool { anchor == focus }
}

/// How far the end of a selection goes by the keyboard.
public nonisolated enum SelectionStep: Sendable {
    case character, word
    /// To the message's end, and then to that of the next.
    case message
}

nonisolated extension MessageItem {
    /// What of the text a selection may be in: what the row shows of it.
    public var selectableText: String { isDeleted ? "" : body.selectableText(saidBy: senderName) }

    /// The word around a place, as a selection.
    public func word(at offset: Int) -> MessageSelection {
        let text = selectableText
        let index = text.characterIndex(offset)
        func isWord(_ character: Character) -> Bool { character.isLetter || character.isNumber || character == "_" }
        var (low, high) = (index, index)
        while low > text.startIndex, isWord(text[text.index(before: low)]) { low = text.index(before: low) }
        while high < text.endIndex, isWord(text[high]) { high = text.index(after: high) }
        if low == high, high < text.endIndex { high = text.index(after: high) }
        return MessageSelection(
            anchor: TextPoint(message: id, offset: text.offset(low)),
            focus: TextPoint(message: id, offset: text.offset(high)))
    }
}

nonisolated extension String {
    /// The character boundary at an offset in UTF-8 units, or before it.
    func characterIndex(_ offset: Int) -> Index {
        var index = utf8.index(startIndex, offsetBy: Swift.min(Swift.max(0, offset), utf8.count))
        while Index(index, within: self) == nil { index = utf8.index(before: index) }
        return index
    }

    func offset(_ index: Index) -> Int { utf8.distance(from: startIndex, to: index) }
}
