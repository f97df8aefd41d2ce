/// Disjoint ranges of a text, in order, that move with its edits.
///
/// Ranges after the last edit are stored by their distance from the end of the text. A further edit at that position
/// changes none of them, so the cost of typing does not depend on the number of ranges.
struct MovingRanges: Sendable {
    /// Before the gap, in order.
    private var head: [TextRange] = []
    /// Behind the gap, in reverse order. The location is the distance from the start of the range to the end of the text.
    private var tail: [TextRange] = []
    private var textLength: Int

    init(textLength: Int = 0) {
        self.textLength = textLength
    }

    var isEmpty: Bool { head.isEmpty && tail.isEmpty }

    /// All ranges: O(n).
    var all: [TextRange] { head + tail.reversed().map(absolute) }

    private func absolute(_ range: TextRange) -> TextRange {
        TextRange(location: textLength - range.location, length: range.length)
    }

    /// Moves the gap before the first range that starts at `offset` or later.
    private mutating func moveGap(to offset: Int) {
        while let last = head.last, last.location >= offset {
            head.removeLast()
            tail.append(TextRange(location: textLength - last.location, length: last.length))
        }
        while let first = tail.last, textLength - first.location < offset {
            tail.removeLast()
            head.append(absolute(first))
        }
    }

    /// Moves the ranges with an edit, and removes those that it touches, even at their ends.
    ///
    /// - Returns: the removed ranges as they were before the edit.
    mutating func apply(_ edit: AppliedEdit) -> [TextRange] {
        moveGap(to: edit.range.location)
        var touched: [TextRange] = []
        if let last = head.last, last.end >= edit.range.location { touched.append(head.removeLast()) }
        while let first = tail.last, textLength - first.location <= edit.range.end {
            touched.append(absolute(tail.removeLast()))
        }
        textLength += edit.addedLength
        return touched
    }

    /// Adds a range that does not touch the others.
    mutating func insert(_ range: TextRange) {
        moveGap(to: range.location)
        head.append(range)
    }

    /// The ranges that overlap this one: O(their number) near the last edit.
    mutating func ranges(in range: TextRange) -> [TextRange] {
        moveGap(to: range.location)
        var found: [TextRange] = []
        if let last = head.last, last.end > range.location { found.append(last) }
        for first in tail.reversed().lazy.map(absolute) {
            guard first.location < range.end else { break }
            found.append(first)
        }
        return found
    }

    /// Replaces the ranges that overlap this one.
    ///
    /// - Returns: whether this changes anything.
    mutating func replace(in range: TextRange, with others: [TextRange]) -> Bool {
        let old = ranges(in: range)
        guard old != others else { return false }
        if let last = head.last, last.end > range.location { head.removeLast() }
        while let first = tail.last, textLength - first.location < range.end { tail.removeLast() }
        head += others
        return true
    }

    /// The number of ranges that start before an offset.
    mutating func count(before offset: Int) -> Int {
        moveGap(to: offset)
        return head.count
    }

    /// The range that contains an offset or ends there: O(log n).
    func range(at offset: Int) -> TextRange? {
        let inHead = head.partitionPoint { $0.end < offset }
        if inHead < head.count { return head[inHead].location <= offset ? head[inHead] : nil }
        let behind = tail.partitionPoint { absolute($0).location > offset }
        guard behind < tail.count else { return nil }
        let range = absolute(tail[behind])
        return range.end >= offset ? range : nil
    }
}

extension AppliedEdit {
    /// The number of UTF-16 code units by which the text grows.
    var addedLength: Int { replacement.utf16.count - range.length }

    /// The range after the edit, or `nil` if the edit changes what it covers.
    func moved(_ other: TextRange) -> TextRange? {
        if other.end <= range.location { return other }
        guard other.location >= range.end else { return nil }
        return TextRange(location: other.location + addedLength, length: other.length)
    }

    /// The range after the edit, extended by the text that the edit inserted within or beside it.
    func stretched(_ other: TextRange) -> TextRange {
        TextRange(
            start: min(other.location, range.location), end: max(other.end, range.end) + addedLength)
    }
}

extension Array {
    /// The index of the first element that does not satisfy the condition. It must hold for a prefix of the array.
    fileprivate func partitionPoint(_ condition: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if condition(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
