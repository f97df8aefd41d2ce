/// The content of a composer: text and the spans over it, as a value.
///
/// Offsets are UTF-16 units. An edit, an offset conversion and a look-up near an offset cost O(log n) of
/// the text's length and O(s) of the number of spans; only ``text`` costs O(n). Copies are cheap and share
/// their storage.
public struct ComposerDocument: Sendable, Equatable {
    private(set) var storage = TextStorage()
    private(set) var spanSet = SpanSet()
    /// How the text is to be read.
    public internal(set) var syntax = WrittenText.Syntax.markdown
    /// Scalars that are neither white space nor line breaks: kept, so that "is there anything to send" costs nothing.
    private var nonBlankScalars = 0
    private var lineBreaks = 0

    public init() {}

    /// A document of plain text. NUL is left out: no text widget can hold it.
    public init(_ text: String) {
        _ = replace(TextRange(location: 0, length: 0), with: text)
    }

    /// What somebody wrote, to be written on. A mark off the boundaries of clusters is left out.
    public init(_ written: WrittenText) {
        self.init(written.source)
        syntax = written.syntax
        add(written.marks, from: 0)
    }

    /// Marks what was inserted at an offset.
    mutating func add(_ marks: [WrittenText.Mark], from offset: Int) {
        for mark in marks {
            let range = TextRange(location: offset + mark.range.location, length: mark.range.length)
            switch mark.content {
            case .mention(let target):
                _ = addMention(Mention(target, text: text(in: range), short: mark.short), over: range)
            case .style(let style): setStyle(style, true, over: range)
            case .file(let source): addImage(source, at: range.location)
            }
        }
    }

    /// What stands in the document: O(n).
    public var written: WrittenText { WrittenText(of: self) }

    /// The whole text: O(n). Nothing that happens on a key press reads it.
    public var text: String { storage.string }
    /// The spans in the order of their locations.
    public var spans: [Span] { spanSet.spans }
    /// The spans that mark mentions, in the order of their locations.
    public var mentions: [Span] { spanSet.spans.filter { $0.mention != nil } }

    /// The spans that place pictures, in the order of their locations.
    public var images: [Span] { spanSet.spans.filter { $0.imageSource != nil } }

    /// The length in UTF-16 units.
    public var length: Int { storage.utf16Count }
    /// The length in Unicode scalars, which GtkTextBuffer counts.
    public var scalarCount: Int { storage.scalarCount }
    /// The length in UTF-8, which servers count.
    public var byteCount: Int { storage.utf8Count }
    /// The length in grapheme clusters: what people call characters.
    public var graphemeCount: Int { storage.graphemeCount }
    public var isEmpty: Bool { storage.isEmpty }
    /// Whether there is nothing but white space and line breaks.
    public var isBlank: Bool { nonBlankScalars == 0 }
    /// The number of lines as line breaks make them, at least 1; wrapping is the window's to add.
    public var hardLineCount: Int { lineBreaks + 1 }

    public static func == (left: ComposerDocument, right: ComposerDocument) -> Bool {
        left.syntax == right.syntax && left.spanSet.spans == right.spanSet.spans && left.storage == right.storage
    }
}

// MARK: - Reading

extension ComposerDocument {
    /// A piece of what stands in the document. Mentions and pictures are in it only as a whole (HKW-29).
    public func written(in range: TextRange) -> WrittenText { written(in: range, cutsMentions: false) }

    /// - Parameter cutsMentions: what lies in the range of a mention stays one: its outer white space is cut off.
    func written(in range: TextRange, cutsMentions: Bool) -> WrittenText {
        let range = aligned(range)
        var excerpt = ComposerDocument(text(in: range))
        excerpt.syntax = syntax
        let inner = spans.compactMap { span -> Span? in
            var span = span
            let start = max(span.range.location, range.location)
            let end = min(span.range.end, range.end)
            guard start < end, cutsMentions || span.style != nil || range.covers(span.range) else { return nil }
            span.range = TextRange(location: start - range.location, length: end - start)
            return span
        }
        excerpt.restoreSpans(inner)
        return excerpt.written
    }

    /// The text of a range, which is first brought into the text: O(length of the range).
    public func text(in range: TextRange) -> String {
        storage.string(in: clamped(range))
    }

    /// Whether the range lies in the text, whatever numbers it holds.
    public func contains(_ range: TextRange) -> Bool {
        range.location >= 0 && range.length >= 0 && range.location <= length
            && range.length <= length - range.location
    }

    /// The nearest range in the text.
    public func clamped(_ range: TextRange) -> TextRange {
        let start = min(max(range.location, 0), length)
        let end = min(max(range.end, start), length)
        return TextRange(start: start, end: end)
    }

    /// The range in the text with both ends moved to the start of the cluster they lie in.
    public func aligned(_ range: TextRange) -> TextRange {
        let range = clamped(range)
        let start = storage.clusterStart(at: range.location)
        return TextRange(start: start, end: range.isEmpty ? start : storage.clusterStart(at: range.end))
    }

    /// The offset moved to the start of the cluster that it lies in.
    public func clusterStart(at offset: Int) -> Int { storage.clusterStart(at: offset) }
    /// The offset moved to the end of the cluster that it lies in.
    public func clusterEnd(at offset: Int) -> Int { storage.clusterEnd(at: offset) }
    /// The boundary of a cluster before `offset`, or 0.
    public func clusterBoundary(before offset: Int) -> Int { storage.clusterBoundary(before: offset) }
    /// The boundary of a cluster after `offset`, or ``length``.
    public func clusterBoundary(after offset: Int) -> Int { storage.clusterBoundary(after: offset) }

    /// The cluster before `offset`; nil at the start (HKW-18).
    public func character(before offset: Int) -> Character? { storage.character(before: offset) }
    /// The cluster at `offset`; nil at the end.
    public func character(at offset: Int) -> Character? { storage.character(at: offset) }

    /// The number of Unicode scalars before a UTF-16 offset.
    public func scalarOffset(ofUTF16 offset: Int) -> Int { storage.scalarOffset(ofUTF16: offset) }
    /// The UTF-16 offset of a number of Unicode scalars; brought into the text.
    public func utf16Offset(ofScalar offset: Int) -> Int { storage.utf16Offset(ofScalar: offset) }

    /// The number of grapheme clusters in a range whose ends lie on boundaries.
    public func graphemeCount(in range: TextRange) -> Int { storage.graphemeCount(in: aligned(range)) }

    /// The mention that holds `offset` strictly inside.
    public func mention(around offset: Int) -> Span? {
        spanSet.spans.first { $0.mention != nil && $0.range.location < offset && offset < $0.range.end }
    }
}

// MARK: - Changing

extension ComposerDocument {
    /// Replaces a range exactly as given, which may lie within a cluster: an undo step must be able to.
    ///
    /// - Returns: the edit as it was carried out, the range brought into the text and NUL left out.
    mutating func replace(_ range: TextRange, with replacement: String) -> AppliedEdit {
        let range = scalarAligned(clamped(range))
        let replacement = replacement.withoutNUL()
        let window = breakWindow(around: range)
        let breaksBefore = storage.string(in: window).lineBreakCount
        nonBlankScalars -= storage.string(in: range).nonBlankScalarCount
        storage.replace(range, with: replacement)
        let inserted = replacement.utf16.count
        nonBlankScalars += replacement.nonBlankScalarCount
        let after = TextRange(location: window.location, length: window.length - range.length + inserted)
        lineBreaks += storage.string(in: after).lineBreakCount - breaksBefore
        spanSet.applyEdit(range, replacedBy: inserted)
        spanSet.align(to: storage)
        return AppliedEdit(range: range, replacement: replacement)
    }

    private func scalarAligned(_ range: TextRange) -> TextRange {
        TextRange(start: storage.scalarStart(at: range.location), end: storage.scalarStart(at: range.end))
    }

    /// CR LF is one line break, so a count must see one unit to either side of a change.
    private func breakWindow(around range: TextRange) -> TextRange {
        scalarAligned(clamped(TextRange(start: range.location - 2, end: range.end + 2)))
    }

    mutating func restoreSpans(_ spans: [Span]) {
        spanSet.restore(spans)
    }

    /// Marks a range as a mention if its text is exactly the mention's and nothing else is marked there (HKW-67).
    ///
    /// - Returns: nil, with nothing changed, if the range doesn't fit.
    mutating func addMention(_ mention: Mention, over range: TextRange) -> Span? {
        guard !range.isEmpty, contains(range), aligned(range) == range,
            text(in: range).unicodeScalars.elementsEqual(mention.text.unicodeScalars),
            !spanSet.spans.contains(where: { $0.mention != nil && $0.range.intersects(range) })
        else { return nil }
        return spanSet.add(.mention(mention), over: range)
    }

    /// Says that the character at a place stands for a picture (MIB-19).
    ///
    /// - Returns: nil, with nothing changed, if another character stands there, or the picture of another.
    @discardableResult
    mutating func addImage(_ source: String, at offset: Int) -> Span? {
        let range = TextRange(location: offset, length: 1)
        guard contains(range), text(in: range) == Span.imageCharacter, aligned(range) == range,
            !spanSet.spans.contains(where: { $0.style == nil && $0.range.intersects(range) })
        else { return nil }
        return spanSet.add(.picture(source), over: range)
    }

    /// Without the pictures in the text that a condition names, and without the lines that they stood alone in.
    func removingImages(where condition: (String) -> Bool) -> ComposerDocument {
        var document = self
        for span in images.reversed() where span.imageSource.map(condition) ?? false {
            let before = character(before: span.range.location)
            let isAlone = (before?.isLineBreak ?? true) && (character(at: span.range.end)?.isLineBreak ?? false)
            let end = isAlone ? clusterBoundary(after: span.range.end) : span.range.end
            _ = document.replace(TextRange(start: span.range.location, end: end), with: "")
        }
        return document
    }

    mutating func removeSpans(where condition: (Span) -> Bool) {
        spanSet.remove(where: condition)
    }

    mutating func setStyle(_ style: TextStyle, _ isOn: Bool, over range: TextRange) {
        spanSet.set(style, isOn, over: aligned(range))
    }

    /// The styles of the text that ends at `offset`, which text typed there takes.
    public func styles(before offset: Int) -> Set<TextStyle> {
        spanSet.styles(before: offset)
    }
}
