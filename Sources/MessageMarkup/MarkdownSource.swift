import Composer

/// A text as it is passed to MD4C, and the attributes of its style marks. Each mention is replaced with a
/// placeholder, so that no character of a name is parsed as markup and delimiters next to a name work as they do
/// next to a word.
///
/// A placeholder is a private-use character that the text does not contain, the mention's number in letters, and the
/// character again. MD4C treats private-use characters as letters.
struct MarkdownSource {
    /// A range with uniform attributes, from ``start`` to the start of the next run.
    struct AttributeRun {
        /// In UTF-8 code units of ``text``.
        var start: Int
        var attributes: InlineAttributes
    }

    private(set) var text: String
    /// The segments of each mention.
    private(set) var mentions: [[WrittenSegments.Segment]] = []
    /// Empty if the text has no style marks.
    private(set) var attributeRuns: [AttributeRun] = []
    let segments: WrittenSegments?
    /// The character that delimits placeholders, in UTF-8.
    private(set) var sentinel: [UInt8] = []
    /// The placeholder of an escaped `|`, which is not part of a spoiler delimiter; `nil` if none is needed.
    private(set) var bar: Unicode.Scalar?

    /// Wraps a text without marks. Removes a byte order mark and replaces U+0000 as CommonMark requires; MD4C 0.5.3
    /// passes some of them through in the text that follows.
    init(_ text: String) {
        segments = nil
        self.text = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        if self.text.contains(byte: 0) {
            self.text = String(
                decoding: self.text.utf8.flatMap { $0 == 0 ? Array("\u{FFFD}".utf8) : [$0] }, as: UTF8.self)
        }
        findBar()
    }

    /// - Returns: `nil` for a text that contains every private-use character.
    init?(_ segments: WrittenSegments) {
        self.segments = segments
        let isStyled = segments.segments.contains { !$0.attributes.isPlain }
        var bytes: [UInt8] = []
        if !segments.mentions.isEmpty {
            guard let scalar = PrivateUse.free(in: segments.segments.lazy.map(\.text)) else { return nil }
            sentinel = Array(String(Character(scalar)).utf8)
        }
        for segment in segments.segments {
            if isStyled, attributeRuns.last?.attributes != segment.attributes {
                attributeRuns.append(AttributeRun(start: bytes.count, attributes: segment.attributes))
            }
            guard let mention = segment.mention else {
                bytes += segment.text.utf8
                continue
            }
            if mention == mentions.count {
                mentions.append([])
                bytes += sentinel
                bytes += Self.letters(mention)
                bytes += sentinel
            }
            mentions[mention].append(segment)
        }
        text = String(decoding: bytes, as: UTF8.self)
        findBar()
    }

    /// Returns the number in hexadecimal, with the letters `a` to `p` as digits.
    private static func letters(_ number: Int) -> [UInt8] {
        String(number, radix: 16).utf8.map { $0.isDigit ? $0 - UInt8(ascii: "0") + UInt8(ascii: "a") : $0 + 10 }
    }

    /// Parses a placeholder at a position. Returns the mention's number and the end.
    func mention(_ bytes: UnsafeRawBufferPointer, at position: Int) -> (number: Int, end: Int)? {
        guard !sentinel.isEmpty, starts(bytes, at: position) else { return nil }
        var number = 0
        var end = position + sentinel.count
        while end < bytes.count, (UInt8(ascii: "a")...UInt8(ascii: "p")).contains(bytes[end]), number < mentions.count {
            number = number << 4 | Int(bytes[end] - UInt8(ascii: "a"))
            end += 1
        }
        guard number < mentions.count, starts(bytes, at: end) else { return nil }
        return (number, end + sentinel.count)
    }

    private func starts(_ bytes: UnsafeRawBufferPointer, at position: Int) -> Bool {
        position + sentinel.count <= bytes.count && sentinel.indices.allSatisfy { bytes[position + $0] == sentinel[$0] }
    }

    /// Returns the index of the attribute run at an offset.
    ///
    /// - Parameter hint: The index at the last offset; the next one is usually the same or follows.
    func attributeRunIndex(at offset: Int, hint: Int) -> Int {
        func holds(_ index: Int) -> Bool {
            index < attributeRuns.count && attributeRuns[index].start <= offset
                && (index + 1 == attributeRuns.count || offset < attributeRuns[index + 1].start)
        }
        if holds(hint) { return hint }
        if holds(hint + 1) { return hint + 1 }
        var (low, high) = (0, attributeRuns.count)
        while low < high {
            let middle = (low + high) / 2
            if attributeRuns[middle].start <= offset { low = middle + 1 } else { high = middle }
        }
        return max(0, low - 1)
    }

    private mutating func findBar() {
        guard text.contains(byte: UInt8(ascii: "\\")) || text.contains(byte: UInt8(ascii: "&")) else { return }
        bar = PrivateUse.free(in: CollectionOfOne(text[...]))
    }
}

/// Unicode private-use characters, which serve as placeholders.
enum PrivateUse {
    private static let first: ClosedRange<UInt32> = 0xE000...0xEFFF
    private static let second: ClosedRange<UInt32> = 0xF0000...0xFFFFD

    /// Returns a private-use character that the texts do not contain, or `nil` if they contain all.
    static func free(in texts: some Sequence<Substring>) -> Unicode.Scalar? {
        var used: Set<UInt32> = []
        for text in texts where text.utf8.contains(where: { $0 == 0xEE || $0 >= 0xF3 }) {
            for scalar in text.unicodeScalars
            where first.contains(scalar.value) || second.contains(scalar.value) {
                used.insert(scalar.value)
            }
        }
        let free = first.first { !used.contains($0) } ?? second.first { !used.contains($0) }
        return free.flatMap(Unicode.Scalar.init)
    }
}
