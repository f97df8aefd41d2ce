/// What is counted against a limit.
public enum CountUnit: String, Hashable, Sendable, Codable, CaseIterable {
    /// Grapheme clusters: what people call characters.
    case graphemes
    /// UTF-16 code units, as some servers count.
    case utf16
}

/// Whether a limit stops the text or only the sending.
public enum LimitPolicy: String, Hashable, Sendable, Codable, CaseIterable {
    /// Sending is disabled while the text is over the limit (SLK-14).
    case soft
    /// No user's change takes the text over the limit: what fits is inserted (MCV-9). Shortening is always possible.
    case hard
}

/// What the counter shows for n of at most m characters (SLK-14).
public enum CounterStyle: String, Hashable, Sendable, Codable, CaseIterable {
    /// m − n: what is left.
    case countdownReversed
    /// n
    case plain
    /// n/m
    case split
    /// n − m: negative up to the limit.
    case countdown

    func text(count: Int, limit: Int) -> String {
        switch self {
        case .countdownReversed: "\(limit - count)"
        case .plain: "\(count)"
        case .split: "\(count)/\(limit)"
        case .countdown: "\(count - limit)"
        }
    }
}

/// What the counter beside the text says.
public struct CounterState: Hashable, Sendable {
    /// In the configured style.
    public let text: String
    /// Whether the text is over the limit.
    public let exceeded: Bool
    /// How many units are over (positive) or left (negative).
    public let excess: Int

    /// Whether the limit is near enough to be told: the last 20 units, and beyond.
    public var isNear: Bool { excess >= -20 }
}

extension ComposerConfiguration {
    /// How much of the limit a document uses. One rule serves label and limit: under the soft policy white space
    /// and line breaks at the ends don't count, sent or not; under the hard policy everything does.
    func limitedCount(of document: ComposerDocument) -> Int {
        guard limitPolicy == .soft else {
            return countUnit == .graphemes ? document.graphemeCount : document.length
        }
        return countUnit == .graphemes ? document.trimmedGraphemeCount : document.trimmedRange.length
    }
}

extension ComposerDocument {
    /// The text without white space and line breaks at its ends. Costs what it leaves out.
    var trimmedRange: TextRange {
        guard !isBlank else { return .caret(0) }
        let start = storage.firstOffset(from: 0) { !$0.isBlank }
        let end = storage.lastOffset(before: length) { !$0.isBlank }
        return TextRange(start: start, end: max(start, end))
    }

    /// The grapheme clusters of ``trimmedRange``: all but those left out, so that it costs what they do.
    var trimmedGraphemeCount: Int {
        let range = trimmedRange
        guard !range.isEmpty else { return 0 }
        let head = graphemeCount(in: TextRange(location: 0, length: range.location))
        return graphemeCount - head - graphemeCount(in: TextRange(start: range.end, end: length))
    }
}
