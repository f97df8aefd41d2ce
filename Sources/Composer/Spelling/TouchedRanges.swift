/// The parts of a text that wait for something to be done with them. They follow its edits; those that touch are one.
///
/// A part may be empty, where something was deleted: what stands on either side counts as touched.
struct TouchedRanges: Sendable {
    /// More become one, so that an edit never costs more than this.
    private static let limit = 64

    /// In order.
    private(set) var ranges: [TextRange] = []

    var isEmpty: Bool { ranges.isEmpty }

    mutating func add(_ range: TextRange) {
        // What an edit touches is mostly at the place of the last one.
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
