import _RopeModule

/// The characters of a document in a balanced tree, addressed in UTF-16 units.
///
/// Every operation but those that return or take text costs O(log n) of the text's length. Offsets
/// must lie in `0...utf16Count`; an offset within a surrogate pair counts as the pair's start.
struct TextStorage: Sendable {
    private var rope: BigString

    init(_ text: String = "") {
        rope = BigString(text)
    }

    var utf16Count: Int { rope.utf16.count }
    var scalarCount: Int { rope.unicodeScalars.count }
    var graphemeCount: Int { rope.count }
    var isEmpty: Bool { rope.isEmpty }

    /// The whole text: O(n).
    var string: String { String(rope) }

    /// The text of a range: O(length of the range).
    func string(in range: TextRange) -> String {
        guard !range.isEmpty else { return "" }
        let bounds = scalarIndex(range.location)..<scalarIndex(range.end)
        return String(rope.unicodeScalars[bounds])
    }

    /// How many grapheme clusters a range holds whose ends are boundaries of clusters.
    func graphemeCount(in range: TextRange) -> Int {
        rope.distance(from: scalarIndex(range.location), to: scalarIndex(range.end))
    }

    mutating func replace(_ range: TextRange, with replacement: String) {
        let start = scalarIndex(range.location)
        if range.isEmpty {
            guard !replacement.isEmpty else { return }
            rope.unicodeScalars.insert(contentsOf: replacement.unicodeScalars, at: start)
        } else {
            let bounds = start..<scalarIndex(range.end)
            if replacement.isEmpty {
                rope.unicodeScalars.removeSubrange(bounds)
            } else {
                rope.unicodeScalars.replaceSubrange(bounds, with: replacement.unicodeScalars)
            }
        }
    }

    private func scalarIndex(_ offset: Int) -> BigString.Index {
        if offset <= 0 { return rope.startIndex }
        if offset >= utf16Count { return rope.endIndex }
        let index = rope.utf16.index(rope.startIndex, offsetBy: offset)
        return rope.unicodeScalars.index(roundingDown: index)
    }

    private func offset(of index: BigString.Index) -> Int {
        rope.utf16.distance(from: rope.startIndex, to: index)
    }
}

// MARK: - Grapheme clusters

extension TextStorage {
    /// The start of the cluster that `offset` lies in; `offset` itself on a boundary.
    func clusterStart(at offset: Int) -> Int {
        guard offset > 0 else { return 0 }
        guard offset < utf16Count else { return utf16Count }
        return self.offset(of: rope.index(roundingDown: scalarIndex(offset)))
    }

    /// The end of the cluster that `offset` lies in; `offset` itself on a boundary.
    func clusterEnd(at offset: Int) -> Int {
        let start = clusterStart(at: offset)
        return start == offset ? offset : clusterBoundary(after: start)
    }

    /// The boundary before `offset`, or 0.
    func clusterBoundary(before offset: Int) -> Int {
        let index = scalarIndex(offset)
        guard index > rope.startIndex else { return 0 }
        return self.offset(of: rope.index(before: index))
    }

    /// The boundary after `offset`, or the text's end.
    func clusterBoundary(after offset: Int) -> Int {
        let index = scalarIndex(offset)
        guard index < rope.endIndex else { return utf16Count }
        return self.offset(of: rope.index(after: index))
    }

    /// The cluster that ends at `offset`, or holds it.
    func character(before offset: Int) -> Character? {
        let index = scalarIndex(offset)
        guard index > rope.startIndex else { return nil }
        return rope[rope.index(before: index)]
    }

    /// The cluster that starts at `offset`, or holds it.
    func character(at offset: Int) -> Character? {
        let index = rope.index(roundingDown: scalarIndex(offset))
        guard index < rope.endIndex else { return nil }
        return rope[index]
    }

    /// The offset of the first cluster after `offset` that satisfies the condition, or the end of the
    /// text; at most `limit` clusters are looked at.
    func firstOffset(from offset: Int, limit: Int = .max, where condition: (Character) -> Bool) -> Int {
        var index = scalarIndex(offset)
        var left = limit
        while index < rope.endIndex, left > 0, !condition(rope[index]) {
            index = rope.index(after: index)
            left -= 1
        }
        return self.offset(of: index)
    }

    /// The end of the last cluster before `offset` that satisfies the condition, or 0; at most `limit`
    /// clusters are looked at.
    func lastOffset(before offset: Int, limit: Int = .max, where condition: (Character) -> Bool) -> Int {
        var index = scalarIndex(offset)
        var left = limit
        while index > rope.startIndex, left > 0 {
            let previous = rope.index(before: index)
            if condition(rope[previous]) { break }
            index = previous
            left -= 1
        }
        return self.offset(of: index)
    }
}

// MARK: - Unicode scalars

extension TextStorage {
    /// How many Unicode scalars lie before the UTF-16 offset.
    func scalarOffset(ofUTF16 offset: Int) -> Int {
        rope.unicodeScalars.distance(from: rope.startIndex, to: scalarIndex(offset))
    }

    /// The UTF-16 offset before which `offset` scalars lie.
    func utf16Offset(ofScalar offset: Int) -> Int {
        let count = min(max(offset, 0), scalarCount)
        return self.offset(of: rope.unicodeScalars.index(rope.startIndex, offsetBy: count))
    }
}

extension TextStorage: Equatable {
    /// Scalar by scalar: texts that are only canonically equivalent differ, as their offsets do.
    static func == (left: TextStorage, right: TextStorage) -> Bool {
        left.rope.isIdentical(to: right.rope) || left.rope.utf8 == right.rope.utf8
    }
}
