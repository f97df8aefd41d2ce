/// The spans of a document, updated on every edit.
///
/// Mentions and images are atomic: a change inside one turns it into plain text (HKW-60). Styles grow and shrink with
/// insertions and deletions inside them; adjacent equal styles are merged.
struct SpanSet: Sendable, Equatable {
    private(set) var spans: [Span] = []
    private var nextID: UInt64 = 1

    /// Undo restores spans with their former identifiers, so identifiers are never reused.
    mutating func restore(_ spans: [Span]) {
        self.spans = spans
        nextID = max(nextID, (spans.map(\.id.rawValue).max() ?? 0) &+ 1)
    }

    mutating func add(_ content: Span.Content, over range: TextRange) -> Span {
        let span = Span(id: Span.ID(rawValue: nextID), range: range, content: content)
        nextID &+= 1
        let insertionIndex = spans.firstIndex { $0.range.location > range.location } ?? spans.count
        spans.insert(span, at: insertionIndex)
        return span
    }

    mutating func remove(where condition: (Span) -> Bool) {
        spans.removeAll(where: condition)
    }

    /// Adjusts the spans to the replacement of `range` by `length` units.
    mutating func applyEdit(_ range: TextRange, replacedBy length: Int) {
        guard !spans.isEmpty else { return }
        spans = spans.compactMap { span in
            var span = span
            let moved =
                span.style != nil ? Self.stretched(span.range, range, length) : Self.shifted(span.range, range, length)
            guard let moved else { return nil }
            span.range = moved
            return span
        }
    }

    /// Drops mentions and images that no longer lie on grapheme cluster boundaries, and moves the ends of styles onto
    /// them.
    mutating func align(to storage: TextStorage) {
        guard !spans.isEmpty else { return }
        spans = spans.compactMap { span in
            let start = storage.clusterStart(at: span.range.location)
            let end = storage.clusterStart(at: span.range.end)
            let aligned = TextRange(start: start, end: end)
            if aligned == span.range { return span }
            guard span.style != nil, !aligned.isEmpty else { return nil }
            var span = span
            span.range = aligned
            return span
        }
    }

    private static func shifted(_ span: TextRange, _ edit: TextRange, _ length: Int) -> TextRange? {
        if edit.location >= span.end { return span }
        guard edit.end <= span.location else { return nil }
        return TextRange(location: span.location + length - edit.length, length: span.length)
    }

    private static func stretched(_ span: TextRange, _ edit: TextRange, _ length: Int) -> TextRange? {
        if edit.location >= span.end { return span }
        let delta = length - edit.length
        if edit.end <= span.location { return TextRange(location: span.location + delta, length: span.length) }
        let start = edit.location < span.location ? edit.location + length : span.location
        let end = edit.end > span.end ? edit.location : span.end + delta
        let inner = edit.location >= span.location && edit.end <= span.end
        if inner { return span.length + delta > 0 ? TextRange(start: span.location, end: span.end + delta) : nil }
        return end > start ? TextRange(start: start, end: end) : nil
    }
}

// MARK: - Styles

extension SpanSet {
    /// The styles of the text that ends at `offset`. Text typed there inherits them (HKW-10).
    func styles(before offset: Int) -> Set<TextStyle> {
        var styles: Set<TextStyle> = []
        for span in spans where span.range.location < offset && offset <= span.range.end {
            if let style = span.style { styles.insert(style) }
        }
        return styles
    }

    /// Adds or removes a style over a range. Adding replaces other styles of the same kind and merges adjacent equal
    /// styles.
    mutating func set(_ style: TextStyle, _ isOn: Bool, over range: TextRange) {
        guard !range.isEmpty else { return }
        let same = spans.filter { $0.style == style }
        let isSo = isOn ? same.contains { $0.range.covers(range) } : !same.contains { $0.range.intersects(range) }
        guard !isSo else { return }
        if isOn {
            let others = spans.filter {
                $0.style?.kind == style.kind && $0.style != style && $0.range.intersects(range)
            }
            for other in Set(others.compactMap(\.style)).ordered { set(other, false, over: range) }
        }
        var newRanges: [TextRange] = isOn ? [range] : []
        for span in same {
            let touches = span.range.location <= range.end && range.location <= span.range.end
            guard touches else { continue }
            if isOn {
                let start = min(newRanges[0].location, span.range.location)
                newRanges[0] = TextRange(start: start, end: max(newRanges[0].end, span.range.end))
            } else {
                if span.range.location < range.location {
                    newRanges.append(TextRange(start: span.range.location, end: min(range.location, span.range.end)))
                }
                if span.range.end > range.end {
                    newRanges.append(TextRange(start: max(range.end, span.range.location), end: span.range.end))
                }
            }
        }
        remove { $0.style == style && $0.range.location <= range.end && range.location <= $0.range.end }
        for newRange in newRanges { _ = add(.style(style), over: newRange) }
    }
}
