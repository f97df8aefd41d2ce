public import ChatCore

/// A position in a message's text.
public nonisolated struct TextPoint: Hashable, Sendable {
    public var message: MessageID
    /// The offset into ``MessageItem/selectableText`` in UTF-8 code units; always on a character boundary.
    public var offset: Int

    public init(message: MessageID, offset: Int) {
        self.message = message
        self.offset = offset
    }
}

/// A text selection within one message or across several. Its endpoints stay valid when rows are rebuilt.
public nonisolated struct MessageSelection: Hashable, Sendable {
    /// Where the selection started.
    public var anchor: TextPoint
    /// The endpoint that moves.
    public var focus: TextPoint

    public init(anchor: TextPoint, focus: TextPoint) {
        self.anchor = anchor
        self.focus = focus
    }

    public var isEmpty: Bool { anchor == focus }
}

/// How far a key press moves the selection's focus.
public nonisolated enum SelectionStep: Sendable {
    case character, word
    /// To the end of the message, then to the end of the next one.
    case message
}

nonisolated extension MessageItem {
    /// The text that can be selected: what the row displays.
    public var selectableText: String { message.hasContent ? body.selectableText(by: senderName) : "" }

    /// Returns a selection of the word at an offset.
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
    /// The character boundary at or before an offset in UTF-8 code units.
    func characterIndex(_ offset: Int) -> Index {
        var index = utf8.index(startIndex, offsetBy: Swift.min(Swift.max(0, offset), utf8.count))
        while Index(index, within: self) == nil { index = utf8.index(before: index) }
        return index
    }

    func offset(_ index: Index) -> Int { utf8.distance(from: startIndex, to: index) }
}
