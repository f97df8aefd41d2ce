/// A range in UTF-16 code units, the only unit for offsets in the composer.
///
/// A range doesn't validate its values; ``ComposerDocument`` checks them against the text and its grapheme cluster
/// boundaries.
public struct TextRange: Hashable, Sendable, Codable {
    /// The offset of the first unit from the start of the text.
    public var location: Int
    /// The number of units; 0 for a caret.
    public var length: Int

    public init(location: Int, length: Int) {
        self.location = location
        self.length = length
    }

    /// Creates the range from `start` up to, but not including, `end`.
    public init(start: Int, end: Int) {
        self.init(location: start, length: end - start)
    }

    /// An empty range at `offset`.
    public static func caret(_ offset: Int) -> TextRange {
        TextRange(location: offset, length: 0)
    }

    /// The offset after the last unit. Saturates on overflow instead of trapping.
    public var end: Int {
        let (sum, overflow) = location.addingReportingOverflow(length)
        return overflow ? Int.max : sum
    }

    public var isEmpty: Bool { length == 0 }

    /// Whether the ranges share at least one unit.
    public func intersects(_ other: TextRange) -> Bool {
        location < other.end && other.location < end
    }

    /// Returns where the range is after `replaced` was replaced by `newLength` units. An offset behind `replaced` stays
    /// on its characters; one inside keeps its distance from the start, limited to the new text.
    func moved(replacing replaced: TextRange, by newLength: Int) -> TextRange {
        func place(of offset: Int) -> Int {
            if offset <= replaced.location { return offset }
            if offset >= replaced.end { return offset - replaced.length + newLength }
            return replaced.location + min(offset - replaced.location, newLength)
        }
        let start = place(of: location)
        return isEmpty ? .caret(start) : TextRange(start: start, end: place(of: end))
    }

    /// Whether this range contains `other`; an empty range at either edge counts as contained.
    public func covers(_ other: TextRange) -> Bool {
        location <= other.location && other.end <= end
    }
}
