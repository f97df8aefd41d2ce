import Composer

/// Builds a text with marks incrementally.
struct MarkedText {
    private(set) var text = ""
    private(set) var marks: [WrittenText.Mark] = []
    /// In UTF-16 code units.
    private(set) var length = 0

    init() {}

    init(_ text: some StringProtocol) {
        append(text)
    }

    var isEmpty: Bool { length == 0 }

    mutating func append(_ text: some StringProtocol) {
        self.text += text
        length += text.utf16.count
    }

    mutating func append(_ other: MarkedText) {
        marks += other.marks.map { mark in
            WrittenText.Mark(
                mark.content, over: TextRange(location: mark.range.location + length, length: mark.range.length))
        }
        text += other.text
        length += other.length
    }

    /// Adds a mark from `start`, a former ``length``, to the end.
    mutating func mark(from start: Int, _ content: WrittenText.Mark.Content) {
        if start < length { marks.append(WrittenText.Mark(content, over: TextRange(start: start, end: length))) }
    }

    /// Returns the text with `prefix` before each line but the first.
    func indented(by prefix: String) -> MarkedText {
        guard !prefix.isEmpty, text.utf8.contains(0x0A) else { return self }
        var result = MarkedText()
        /// The start of each line in the original, and the length added before it.
        var lines: [(before: Int, added: Int)] = [(0, 0)]
        var position = 0
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.offset > 0 {
                result.append("\n" + (line.element.isEmpty ? prefix.trimmingSpaces : prefix))
                position += 1
                lines.append((position, result.length - position))
            }
            result.append(line.element)
            position += line.element.utf16.count
        }
        func moved(_ offset: Int, isEnd: Bool) -> Int {
            var (low, high) = (0, lines.count)
            while low < high {
                let middle = (low + high) / 2
                if lines[middle].before < offset || (!isEnd && lines[middle].before == offset) {
                    low = middle + 1
                } else {
                    high = middle
                }
            }
            return offset + lines[max(0, low - 1)].added
        }
        result.marks = marks.map { mark in
            let start = moved(mark.range.location, isEnd: false)
            return WrittenText.Mark(
                mark.content, over: TextRange(start: start, end: max(start, moved(mark.range.end, isEnd: true))))
        }
        return result
    }

    /// Returns the text with its marks aligned to grapheme clusters: a name that begins with a combining mark shares a
    /// cluster with the character before it.
    ///
    /// - Returns: `isWhole` is whether all mentions kept their ranges.
    func written() -> (text: WrittenText, isWhole: Bool) {
        let marks = mergedStyles
        guard !marks.isEmpty else { return (WrittenText(text), true) }
        let document = ComposerDocument(text)
        var alignedMarks: [WrittenText.Mark] = []
        var end = 0
        var isWhole = true
        for mark in marks.sorted(by: { $0.range.location < $1.range.location }) {
            let range = TextRange(
                start: document.clusterStart(at: mark.range.location), end: document.clusterEnd(at: mark.range.end))
            if mark.mention != nil {
                isWhole = isWhole && range == mark.range && range.location >= end
                guard range.location >= end else { continue }
                end = range.end
            }
            alignedMarks.append(WrittenText.Mark(mark.content, over: range))
        }
        let text = WrittenText(text, marks: alignedMarks) ?? WrittenText(text)
        return (text, isWhole)
    }

    /// The marks with adjacent equal styles merged.
    private var mergedStyles: [WrittenText.Mark] {
        var result: [WrittenText.Mark] = []
        var last: [TextStyle: Int] = [:]
        for mark in marks {
            guard case .style(let style) = mark.content else {
                result.append(mark)
                continue
            }
            if let index = last[style], result[index].range.end == mark.range.location {
                result[index].range.length += mark.range.length
            } else {
                last[style] = result.count
                result.append(mark)
            }
        }
        return result
    }
}
