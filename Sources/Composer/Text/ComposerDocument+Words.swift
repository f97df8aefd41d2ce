extension ComposerDocument {
    /// A word and where it stands.
    public struct Word: Hashable, Sendable {
        public let range: TextRange
        public let text: String
    }

    /// The word at an offset: what stands left and right of it up to white space or a line break. After white
    /// space only what stands right of the offset counts (SLK-18). Nil in an empty text or outside of it.
    public func word(at offset: Int) -> Word? {
        guard !isEmpty, (0...length).contains(offset) else { return nil }
        let offset = clusterStart(at: offset)
        let start = storage.lastOffset(before: offset, where: \.isBlank)
        let end = storage.firstOffset(from: offset, where: \.isBlank)
        let range = TextRange(start: start, end: end)
        return Word(range: range, text: text(in: range))
    }

    /// The word that ends at an offset, or with `toEnd` the whole word that the offset lies in or ends; nil
    /// at the start, outside of the text and after white space (HKW-17).
    public func word(before offset: Int, toEnd: Bool = false) -> Word? {
        guard offset > 0, offset <= length else { return nil }
        let offset = clusterStart(at: offset)
        guard let previous = character(before: offset), !previous.isBlank else { return nil }
        let start = storage.lastOffset(before: offset, where: \.isBlank)
        let end = toEnd ? storage.firstOffset(from: offset, where: \.isBlank) : offset
        let range = TextRange(start: start, end: end)
        return Word(range: range, text: text(in: range))
    }

    /// The line, between line breaks, that holds an offset; without its break. At most `limit` scalars to
    /// either side are looked at, so that a line of a megabyte costs no more than one of a kilobyte.
    func line(at offset: Int, limit: Int = 4096) -> TextRange {
        let start = storage.lastOffset(before: offset, limit: limit, where: \.isLineBreak)
        let end = storage.firstOffset(from: offset, limit: limit, where: \.isLineBreak)
        return TextRange(start: start, end: end)
    }

    /// Where a word ends that is deleted by one key leftwards: over white space, then over one kind of character.
    func wordStart(before offset: Int) -> Int {
        let end = storage.lastOffset(before: offset) { !$0.isBlank }
        guard let last = storage.scalar(before: end) else { return 0 }
        if last.isWordScalar { return storage.lastOffset(before: end) { !$0.isWordScalar } }
        return storage.lastOffset(before: end) { $0.isWordScalar || $0.isBlank }
    }

    /// The counterpart of `wordStart(before:)` rightwards.
    func wordEnd(after offset: Int) -> Int {
        let start = storage.firstOffset(from: offset) { !$0.isBlank }
        guard let first = storage.scalar(at: start) else { return length }
        if first.isWordScalar { return storage.firstOffset(from: start) { !$0.isWordScalar } }
        return storage.firstOffset(from: start) { $0.isWordScalar || $0.isBlank }
    }
}
