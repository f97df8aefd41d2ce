extension ComposerDocument {
    /// A word and its range.
    public struct Word: Hashable, Sendable {
        public let range: TextRange
        public let text: String
    }

    /// The word around an offset, delimited by white space or line breaks, or `nil` in an empty text or out of range.
    /// After white space, only the text to the right of the offset counts (SLK-18).
    public func word(at offset: Int) -> Word? {
        guard !isEmpty, (0...length).contains(offset) else { return nil }
        let offset = clusterStart(at: offset)
        let start = storage.lastOffset(before: offset, where: \.isBlank)
        let end = storage.firstOffset(from: offset, where: \.isBlank)
        let range = TextRange(start: start, end: end)
        return Word(range: range, text: text(in: range))
    }

    /// The word that ends at an offset, or with `toEnd` the whole word that contains the offset or ends there.
    /// Returns `nil` at the start, out of range and after white space (HKW-17).
    public func word(before offset: Int, toEnd: Bool = false) -> Word? {
        guard offset > 0, offset <= length else { return nil }
        let offset = clusterStart(at: offset)
        guard let previous = character(before: offset), !previous.isBlank else { return nil }
        let start = storage.lastOffset(before: offset, where: \.isBlank)
        let end = toEnd ? storage.firstOffset(from: offset, where: \.isBlank) : offset
        let range = TextRange(start: start, end: end)
        return Word(range: range, text: text(in: range))
    }

    /// The line that contains an offset, without its line break. Scans at most `limit` scalars in each direction,
    /// so that very long lines don't slow down editing.
    func line(at offset: Int, limit: Int = 4096) -> TextRange {
        let start = storage.lastOffset(before: offset, limit: limit, where: \.isLineBreak)
        let end = storage.firstOffset(from: offset, limit: limit, where: \.isLineBreak)
        return TextRange(start: start, end: end)
    }

    /// The start of the range that Ctrl+Backspace deletes: white space, then a run of one character class.
    func wordStart(before offset: Int) -> Int {
        let end = storage.lastOffset(before: offset) { !$0.isBlank }
        guard let last = storage.scalar(before: end) else { return 0 }
        if last.isWordScalar { return storage.lastOffset(before: end) { !$0.isWordScalar } }
        return storage.lastOffset(before: end) { $0.isWordScalar || $0.isBlank }
    }

    /// The counterpart of ``wordStart(before:)`` for Ctrl+Delete.
    func wordEnd(after offset: Int) -> Int {
        let start = storage.firstOffset(from: offset) { !$0.isBlank }
        guard let first = storage.scalar(at: start) else { return length }
        if first.isWordScalar { return storage.firstOffset(from: start) { !$0.isWordScalar } }
        return storage.firstOffset(from: start) { $0.isWordScalar || $0.isBlank }
    }

    /// The range that Backspace or Delete removes at a caret, or `nil` if there is nothing.
    func rangeToDelete(at caret: Int, backward: Bool, byWord: Bool) -> TextRange? {
        guard backward ? caret > 0 : caret < length else { return nil }
        return backward
            ? TextRange(start: byWord ? wordStart(before: caret) : clusterBoundary(before: caret), end: caret)
            : TextRange(start: caret, end: byWord ? wordEnd(after: caret) : clusterBoundary(after: caret))
    }
}
