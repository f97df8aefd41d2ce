/// A range of a text in UTF-16 code units: the one offset type of the composer.
///
/// A range is only a pair of numbers: whether it lies in a given text and on boundaries of grapheme
/// clusters is for ``ComposerDocument`` to say.
public struct TextRange: Hashable, Sendable, Codable {
    /// The offset of the first unit, counted from the text's start.
    public var location: Int
    /// How many units the range covers; 0 is a caret.
    public var length: Int

    public init(location: Int, length: Int) {
        self.location = location
        self.length = length
    }

    /// The range from `start` up to, not including, `end`.
    public init(start: Int, end: Int) {
        self.init(location: start, length: end - start)
    }

    /// An empty range at `offset`.
    public static func caret(_ offset: Int) -> TextRange {
        TextRange(location: offset, length: 0)
    }

    /// The offset after the last unit. Saturates instead of trapping on absurd numbers.
    public var end: Int {
        let (sum, overflow) = location.addingReportingOverflow(length)
        return overflow ? Int.max : sum
    }

    public var isEmpty: Bool { length == 0 }

    /// Whether both ranges share at least one unit.
    public func intersects(_ other: TextRange) -> Bool {
        location < other.end && other.location < end
    }

    /// Whether every unit of `other` lies in this range; an empty range counts at both edges.
    public func covers(_ other: TextRange) -> Bool {
        location <= other.location && other.end <= end
    }
}
