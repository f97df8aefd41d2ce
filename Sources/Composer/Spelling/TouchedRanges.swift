/// The parts of a text that still have to be processed. They move with edits; adjacent ones are merged.
///
/// A part may be empty, where text was deleted: the text on either side counts as touched.
struct TouchedRanges: Sendable {
    /// The maximum number, above which parts are merged, so that the cost of an edit is bounded.
    private static let limit = 64

    /// In order.
    private(set) var ranges: [TextRange] = []

    var isEmpty: Bool { ranges.isEmpty }

    mutating func add(_ range: TextRange) {
        // Edits mostly continue where the last one was.
        var (start, end) = (range.location, range.end)
        let first = ranges.firstIndex { $0.end >= start } ?? ranges.count
        var behind = first
        while behind < ranges.count, ranges[behind].location <= end {
            start = min(start, ranges[behind].location)
            end = max(end, ranges[behind].end)
            behind += 1
        }
        ranges.replaceSubrange(first..<behind, with: [TextRange(start: start, end: end)])
        if ranges.count > Self.limit {
            ranges = [TextRange(start: ranges[0].location, end: ranges[ranges.count - 1].end)]
        }
    }

    mutating func removeFirst() -> TextRange? { ranges.isEmpty ? nil : ranges.removeFirst() }

    mutating func removeAll() { ranges = [] }

    mutating func apply(_ edit: AppliedEdit) {
        guard !ranges.isEmpty else { return }
        let written = edit.range.location + edit.replacement.utf16.count
        let added = edit.addedLength
        func moved(_ offset: Int, inside: Int) -> Int {
            if offset <= edit.range.location { return offset }
            return offset >= edit.range.end ? offset + added : inside
        }
        let old = ranges
        ranges = []
        for range in old {
            add(
                TextRange(
                    start: moved(range.location, inside: edit.range.location), end: moved(range.end, inside: written)))
        }
    }
}
