/// The content of a composer: text and the spans over it, as a value type.
///
/// Offsets are in UTF-16 code units. Edits, offset conversions and lookups near an offset take O(log n) in the length
/// of the text and O(s) in the number of spans; only ``text`` takes O(n). Copies share their storage.
public struct ComposerDocument: Sendable, Equatable {
    private(set) var storage = TextStorage()
    private(set) var spanSet = SpanSet()
    /// The syntax of the text.
    public internal(set) var syntax = WrittenText.Syntax.markdown
    /// The number of scalars that are neither white space nor line breaks, maintained to make ``isBlank`` O(1).
    private var nonBlankScalars = 0
    private var lineBreaks = 0

    public init() {}

    /// Creates a document of plain text. Drops NUL, which text widgets can't hold.
    public init(_ text: String) {
        _ = replace(TextRange(location: 0, length: 0), with: text)
    }

    /// Creates a document for editing a written text. Drops marks that don't lie on grapheme cluster boundaries.
    public init(_ written: WrittenText) {
        self.init(written.source)
        syntax = written.syntax
        add(written.marks, from: 0)
    }

    /// Adds the spans for text that was inserted at an offset.
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

    /// The content as a ``WrittenText``: O(n).
    public var written: WrittenText { WrittenText(of: self) }

    /// The whole text: O(n). Don't read it on key presses.
    public var text: String { storage.string }
    /// The spans, sorted by location.
    public var spans: [Span] { spanSet.spans }
    /// The mention spans, sorted by location.
    public var mentions: [Span] { spanSet.spans.filter { $0.mention != nil } }

    /// The image spans, sorted by location.
    public var images: [Span] { spanSet.spans.filter { $0.imageSource != nil } }

    /// The length in UTF-16 code units.
    public var length: Int { storage.utf16Count }
    /// The length in Unicode scalars, the unit of `GtkTextBuffer` offsets.
    public var scalarCount: Int { storage.scalarCount }
    /// The length in UTF-8 bytes, the unit of server limits.
    public var byteCount: Int { storage.utf8Count }
    /// The length in grapheme clusters (user-perceived characters).
    public var graphemeCount: Int { storage.graphemeCount }
    public var isEmpty: Bool { storage.isEmpty }
    /// Whether the document contains only white space and line breaks.
    public var isBlank: Bool { nonBlankScalars == 0 }
    /// The number of lines that line breaks delimit, at least 1. Excludes wrapping, which only the window knows.
    public var hardLineCount: Int { lineBreaks + 1 }

    public static func == (left: ComposerDocument, right: ComposerDocument) -> Bool {
        left.syntax == right.syntax && left.spanSet.spans == right.spanSet.spans && left.storage == right.storage
    }
}

// MARK: - Reading

extension ComposerDocument {
    /// Returns an excerpt of the document. Includes mentions and images only if the range covers them (HKW-29).
    public func written(in range: TextRange) -> WrittenText { written(in: range, cutsMentions: false) }

    /// - Parameter cutsMentions: whether a partially covered mention stays a mention of the covered text, without
    ///   outer white space.
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

    /// Returns the text of a range, which is clamped to the document: O(length of the range).
    public func text(in range: TextRange) -> String {
        storage.string(in: clamped(range))
    }

    /// Whether the range lies in the text. Safe for negative and overflowing values.
    public func contains(_ range: TextRange) -> Bool {
        range.location >= 0 && range.length >= 0 && range.location <= length
            && range.length <= length - range.location
    }

    /// Returns the range clamped to the text.
    public func clamped(_ range: TextRange) -> TextRange {
        let start = min(max(range.location, 0), length)
        let end = min(max(range.end, start), length)
        return TextRange(start: start, end: end)
    }

    /// Returns the range clamped to the text, with both ends moved to the start of their grapheme cluster.
    public func aligned(_ range: TextRange) -> TextRange {
        let range = clamped(range)
        let start = storage.clusterStart(at: range.location)
        return TextRange(start: start, end: range.isEmpty ? start : storage.clusterStart(at: range.end))
    }

    /// The start of the grapheme cluster that contains `offset`, or `offset` itself on a boundary.
    public func clusterStart(at offset: Int) -> Int { storage.clusterStart(at: offset) }
    /// The end of the grapheme cluster that contains `offset`, or `offset` itself on a boundary.
    public func clusterEnd(at offset: Int) -> Int { storage.clusterEnd(at: offset) }
    /// The grapheme cluster boundary before `offset`, or 0.
    public func clusterBoundary(before offset: Int) -> Int { storage.clusterBoundary(before: offset) }
    /// The grapheme cluster boundary after `offset`, or ``length``.
    public func clusterBoundary(after offset: Int) -> Int { storage.clusterBoundary(after: offset) }

    /// The grapheme cluster before `offset`, or `nil` at the start (HKW-18).
    public func character(before offset: Int) -> Character? { storage.character(before: offset) }
    /// The grapheme cluster at `offset`, or `nil` at the end.
    public func character(at offset: Int) -> Character? { storage.character(at: offset) }

    /// The number of Unicode scalars before a UTF-16 offset.
    public func scalarOffset(ofUTF16 offset: Int) -> Int { storage.scalarOffset(ofUTF16: offset) }
    /// The UTF-16 offset of a scalar offset, clamped to the text.
    public func utf16Offset(ofScalar offset: Int) -> Int { storage.utf16Offset(ofScalar: offset) }

    /// The number of grapheme clusters in a range, which is aligned to boundaries.
    public func graphemeCount(in range: TextRange) -> Int { storage.graphemeCount(in: aligned(range)) }

    /// The mention that contains `offset` strictly inside, or `nil`.
    public func mention(around offset: Int) -> Span? {
        spanSet.spans.first { $0.mention != nil && $0.range.location < offset && offset < $0.range.end }
    }
}

// MARK: - Changing

extension ComposerDocument {
    /// Replaces a range exactly as given. It may split a grapheme cluster, as undo steps have to.
    ///
    /// - Returns: the edit as applied: the range clamped to the text, the replacement without NUL.
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

    /// Two units on each side, as CR LF counts as one line break.
    private func breakWindow(around range: TextRange) -> TextRange {
        scalarAligned(clamped(TextRange(start: range.location - 2, end: range.end + 2)))
    }

    mutating func restoreSpans(_ spans: [Span]) {
        spanSet.restore(spans)
    }

    /// Adds a mention if the text of the range equals the mention's text and no other mention overlaps it (HKW-67).
    ///
    /// - Returns: `nil`, with nothing changed, if the range doesn't fit.
    mutating func addMention(_ mention: Mention, over range: TextRange) -> Span? {
        guard !range.isEmpty, contains(range), aligned(range) == range,
            text(in: range).unicodeScalars.elementsEqual(mention.text.unicodeScalars),
            !spanSet.spans.contains(where: { $0.mention != nil && $0.range.intersects(range) })
        else { return nil }
        return spanSet.add(.mention(mention), over: range)
    }

    /// Adds an image span at an object replacement character (MIB-19).
    ///
    /// - Returns: `nil`, with nothing changed, if another character is at the offset or another mention or image
    ///   covers it.
    @discardableResult
    mutating func addImage(_ source: String, at offset: Int) -> Span? {
        let range = TextRange(location: offset, length: 1)
        guard contains(range), text(in: range) == Span.imageCharacter, aligned(range) == range,
            !spanSet.spans.contains(where: { $0.style == nil && $0.range.intersects(range) })
        else { return nil }
        return spanSet.add(.picture(source), over: range)
    }

    /// Returns the document without the images that match a condition. Also removes lines that only contained such an
    /// image.
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

    /// The styles of the text that ends at `offset`. Text typed there inherits them.
    public func styles(before offset: Int) -> Set<TextStyle> {
        spanSet.styles(before: offset)
    }
}
