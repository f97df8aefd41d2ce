import _RopeModule

/// The text of a document in a balanced tree of chunks, addressed in UTF-16 code units.
///
/// All operations take O(log n) in the length of the text, apart from those that return or insert text. Offsets must
/// lie in `0...utf16Count`; an offset inside a surrogate pair stands for the start of the pair. The tree is `Rope` of
/// swift-collections rather than its `BigString`, which miscounts grapheme clusters when an edit splits one.
struct TextStorage: Sendable {
    private var rope: Rope<TextChunk>
    /// Updated by recounting around each edit, as grapheme clusters may span chunks.
    private(set) var graphemeCount = 0

    init(_ text: String = "") {
        rope = Rope(TextChunk.chunks(of: text))
        graphemeCount = text.count
    }

    var utf16Count: Int { rope.count(in: UTF16Metric()) }
    var scalarCount: Int { rope.count(in: ScalarMetric()) }
    var utf8Count: Int { rope.count(in: UTF8Metric()) }
    var isEmpty: Bool { rope.isEmpty }

    /// The whole text: O(n).
    var string: String {
        var text = ""
        for chunk in rope { text += chunk.text }
        return text
    }

    /// The text of a range: O(length of the range).
    func string(in range: TextRange) -> String {
        guard range.length > 0, !rope.isEmpty else { return "" }
        var (index, start) = rope.find(at: range.location, in: UTF16Metric(), preferEnd: false)
        var text = ""
        var remaining = range.length
        while remaining > 0, index < rope.endIndex {
            let chunk = rope[index]
            let end = min(start + remaining, chunk.summary.utf16)
            text += chunk.text[chunk.index(atUTF16: start)..<chunk.index(atUTF16: end)]
            remaining -= end - start
            start = 0
            rope.formIndex(after: &index)
        }
        return text
    }

    /// The offset, or the start of the surrogate pair that contains it.
    func scalarStart(at offset: Int) -> Int {
        guard offset > 0, offset < utf16Count else { return min(max(offset, 0), utf16Count) }
        let (index, chunkOffset) = rope.find(at: offset, in: UTF16Metric(), preferEnd: false)
        let chunk = rope[index]
        if chunk.isASCII { return offset }
        return offset - chunkOffset + chunk.utf16Offset(of: chunk.index(atUTF16: chunkOffset))
    }

    /// Replaces a range whose ends don't split surrogate pairs.
    mutating func replace(_ range: TextRange, with replacement: String) {
        let start = anchor(before: range.location)
        let end = anchor(after: range.end)
        let before = string(in: TextRange(start: start, end: end)).count
        let length = utf16Count
        if !replaceInChunk(range, with: replacement) {
            var builder = rope.builder(removing: range.location..<range.end, in: UTF16Metric())
            for chunk in TextChunk.chunks(of: replacement) { builder.insertBeforeTip(chunk) }
            rope = builder.finalize()
        }
        let after = TextRange(start: start, end: end + utf16Count - length)
        graphemeCount += string(in: after).count - before
    }

    /// Fast path: the range lies in one chunk that has room for the replacement.
    private mutating func replaceInChunk(_ range: TextRange, with replacement: String) -> Bool {
        guard !rope.isEmpty, replacement.utf8.count <= TextChunk.maxSize else { return false }
        var (index, chunkOffset) = rope.find(at: range.location, in: UTF16Metric(), preferEnd: true)
        let summary = rope[index].summary
        let inner = TextRange(location: chunkOffset, length: range.length)
        // A UTF-16 code unit takes at most three bytes in UTF-8, which bounds the size after the edit.
        let added = replacement.utf8.count
        guard inner.end <= summary.utf16, summary.utf8 + added <= TextChunk.maxSize,
            summary.utf8 + added - 3 * range.length >= TextChunk.minSize
                || rope.isSingleton && summary.utf16 + added > range.length
        else { return false }
        rope.update(at: &index) { $0.replace(inner, with: replacement) }
        return true
    }
}

// MARK: - Scanning

extension TextStorage {
    /// The scalar before an offset, or `nil` at the start.
    func scalar(before offset: Int) -> Unicode.Scalar? {
        var result: Unicode.Scalar?
        scanBackward(from: offset) { scalar in
            result = scalar
            return false
        }
        return result
    }

    /// The scalar at an offset, or `nil` at the end.
    func scalar(at offset: Int) -> Unicode.Scalar? {
        var result: Unicode.Scalar?
        scanForward(from: offset) { scalar in
            result = scalar
            return false
        }
        return result
    }

    /// Passes the scalars from an offset on to `body` until it returns `false`.
    private func scanForward(from offset: Int, _ body: (Unicode.Scalar) -> Bool) {
        guard offset < utf16Count else { return }
        var (index, chunkOffset) = rope.find(at: max(offset, 0), in: UTF16Metric(), preferEnd: false)
        while index < rope.endIndex {
            let chunk = rope[index]
            guard UTF8Scan.scalars(of: chunk.text, from: chunk.utf8Offset(atUTF16: chunkOffset), body) else { return }
            chunkOffset = 0
            rope.formIndex(after: &index)
        }
    }

    /// Passes the scalars before an offset to `body`, nearest first, until it returns `false`.
    private func scanBackward(from offset: Int, _ body: (Unicode.Scalar) -> Bool) {
        guard offset > 0, !rope.isEmpty else { return }
        let (last, chunkOffset) = rope.find(at: min(offset, utf16Count), in: UTF16Metric(), preferEnd: true)
        var index = last
        var chunk = rope[index]
        var end = chunk.utf8Offset(atUTF16: chunkOffset)
        while true {
            guard UTF8Scan.scalars(of: chunk.text, before: end, body), index > rope.startIndex else { return }
            rope.formIndex(before: &index)
            chunk = rope[index]
            end = chunk.summary.utf8
        }
    }

    /// The offset of the first scalar at or after `offset` that satisfies the condition, or where the text or the
    /// limit (in scalars) ends, moved to the start of its grapheme cluster.
    func firstOffset(from offset: Int, limit: Int = .max, where condition: (Unicode.Scalar) -> Bool) -> Int {
        var position = offset
        var remaining = limit
        scanForward(from: offset) { scalar in
            guard remaining > 0, !condition(scalar) else { return false }
            position += scalar.utf16.count
            remaining -= 1
            return true
        }
        return clusterStart(at: position)
    }

    /// The offset after the last scalar before `offset` that satisfies the condition, or where the text or the limit
    /// (in scalars) ends, moved to the start of its grapheme cluster.
    func lastOffset(before offset: Int, limit: Int = .max, where condition: (Unicode.Scalar) -> Bool) -> Int {
        var position = offset
        var remaining = limit
        scanBackward(from: offset) { scalar in
            guard remaining > 0, !condition(scalar) else { return false }
            position -= scalar.utf16.count
            remaining -= 1
            return true
        }
        return clusterStart(at: position)
    }
}

// MARK: - Grapheme clusters

extension TextStorage {
    /// The nearest offset before `offset` that is a grapheme cluster boundary regardless of context. At least one
    /// scalar separates the two where the text allows, so that edits at `offset` don't affect it.
    private func anchor(before offset: Int) -> Int {
        var position = offset
        var next: Unicode.Scalar?
        scanBackward(from: offset) { scalar in
            if let next, scalar.certainlyBreaks(before: next) { return false }
            position -= scalar.utf16.count
            next = scalar
            return true
        }
        return position
    }

    /// The counterpart of `anchor(before:)` after an offset.
    private func anchor(after offset: Int) -> Int {
        var position = offset
        var previous: Unicode.Scalar?
        scanForward(from: offset) { scalar in
            if let previous, previous.certainlyBreaks(before: scalar) { return false }
            position += scalar.utf16.count
            previous = scalar
            return true
        }
        return position
    }

    /// The start of the grapheme cluster that contains `offset`, or `offset` itself on a boundary.
    func clusterStart(at offset: Int) -> Int {
        let offset = scalarStart(at: offset)
        guard offset > 0, offset < utf16Count, let next = scalar(at: offset), let previous = scalar(before: offset)
        else {
            return offset
        }
        if previous.certainlyBreaks(before: next) { return offset }
        let anchor = anchor(before: offset)
        let window = string(in: TextRange(start: anchor, end: offset + next.utf16.count))
        var start = anchor
        var position = anchor
        for character in window {
            guard position <= offset else { break }
            start = position
            position += character.utf16.count
        }
        return start
    }

    /// The end of the grapheme cluster that contains `offset`, or `offset` itself on a boundary.
    func clusterEnd(at offset: Int) -> Int {
        let start = clusterStart(at: offset)
        return start == offset ? offset : clusterBoundary(after: start)
    }

    /// The grapheme cluster boundary before `offset`, or 0.
    func clusterBoundary(before offset: Int) -> Int {
        let start = clusterStart(at: offset)
        guard start == offset, let previous = scalar(before: start) else { return start }
        return clusterStart(at: start - previous.utf16.count)
    }

    /// The grapheme cluster boundary after `offset`, or the end of the text.
    func clusterBoundary(after offset: Int) -> Int {
        let start = clusterStart(at: offset)
        let end = anchor(after: start)
        let window = string(in: TextRange(start: start, end: end))
        return start + (window.first?.utf16.count ?? 0)
    }

    /// The grapheme cluster that contains `offset` or ends there, or `nil` at the start.
    func character(before offset: Int) -> Character? {
        guard offset > 0 else { return nil }
        return character(at: clusterBoundary(before: offset))
    }

    /// The grapheme cluster that contains `offset` or starts there, or `nil` at the end.
    func character(at offset: Int) -> Character? {
        guard offset < utf16Count else { return nil }
        let start = clusterStart(at: offset)
        return string(in: TextRange(start: start, end: anchor(after: start))).first
    }

    /// The number of grapheme clusters in a range that lies on boundaries: O(length of the range).
    func graphemeCount(in range: TextRange) -> Int {
        range.length == utf16Count ? graphemeCount : string(in: range).count
    }
}

// MARK: - Unicode scalars

extension TextStorage {
    /// The number of Unicode scalars before a UTF-16 offset.
    func scalarOffset(ofUTF16 offset: Int) -> Int {
        guard offset > 0, !rope.isEmpty else { return 0 }
        let (index, chunkOffset) = rope.find(at: min(offset, utf16Count), in: UTF16Metric(), preferEnd: true)
        let chunk = rope[index]
        let head = rope.offset(of: index, in: ScalarMetric())
        if chunk.isASCII { return head + chunkOffset }
        return head
            + chunk.text.unicodeScalars.distance(from: chunk.text.startIndex, to: chunk.index(atUTF16: chunkOffset))
    }

    /// The UTF-16 offset of a scalar offset.
    func utf16Offset(ofScalar offset: Int) -> Int {
        guard offset > 0, !rope.isEmpty else { return 0 }
        let (index, chunkOffset) = rope.find(at: min(offset, scalarCount), in: ScalarMetric(), preferEnd: true)
        let chunk = rope[index]
        let head = rope.offset(of: index, in: UTF16Metric())
        if chunk.isASCII { return head + chunkOffset }
        return head + chunk.utf16Offset(of: ScalarMetric().index(at: chunkOffset, in: chunk))
    }
}

extension TextStorage: Equatable {
    /// Compares scalars: canonically equivalent texts differ, as their offsets do.
    static func == (left: TextStorage, right: TextStorage) -> Bool {
        if left.rope.isIdentical(to: right.rope) { return true }
        return left.utf16Count == right.utf16Count && left.string.utf8.elementsEqual(right.string.utf8)
    }
}
