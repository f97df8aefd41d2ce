/// What is counted against a limit.
public enum CountUnit: String, Hashable, Sendable, Codable, CaseIterable {
    /// Grapheme clusters: what people call characters.
    case graphemes
    /// UTF-16 code units, as some servers count.
    case utf16
    /// Bytes, as others do.
    case utf8

    func count(_ text: some StringProtocol) -> Int {
        switch self {
        case .graphemes: text.count
        case .utf16: text.utf16.count
        case .utf8: text.utf8.count
        }
    }
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

/// What a host found out about the size of the message that a text becomes (SLK-14).
public struct MeasuredSize: Hashable, Sendable {
    /// Bytes over what the host can send; negative: so many are left.
    public var excess: Int
    /// The text's own bytes when that was found out.
    public var bytes: Int

    public init(excess: Int, bytes: Int) {
        self.excess = excess
        self.bytes = bytes
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

    let margin: Int

    /// Whether the limit is near enough to be told: the last 20 characters, the last 1,000 bytes, and beyond.
    public var isNear: Bool { excess >= -margin }
}

extension ComposerConfiguration {
    /// How much of the limit a document uses. One rule serves label and limit: under the soft policy white space
    /// and line breaks at the ends don't count, sent or not; under the hard policy everything does.
    func limitedCount(of document: ComposerDocument) -> Int {
        switch (countUnit, limitPolicy) {
        case (.graphemes, .soft): document.trimmedGraphemeCount
        case (.graphemes, .hard): document.graphemeCount
        case (.utf16, .soft): document.trimmedRange.length
        case (.utf16, .hard): document.length
        case (.utf8, .soft): document.trimmedByteCount
        case (.utf8, .hard): document.storage.utf8Count
        }
    }
}

extension ComposerDocument {
    /// The text without white space and line breaks at its ends. Costs what it leaves out.
    var trimmedRange: TextRange {
        isBlank ? .caret(0) : trimmed(TextRange(location: 0, length: length))
    }

    /// A range without white space and line breaks at its ends; empty where there is nothing else.
    func trimmed(_ range: TextRange) -> TextRange {
        let start = min(storage.firstOffset(from: range.location) { !$0.isBlank }, range.end)
        let end = storage.lastOffset(before: range.end) { !$0.isBlank }
        return TextRange(start: start, end: max(start, end))
    }

    /// The bytes of ``trimmedRange``.
    var trimmedByteCount: Int {
        let range = trimmedRange
        guard !range.isEmpty else { return 0 }
        return storage.utf8Count - text(in: TextRange(location: 0, length: range.location)).utf8.count
            - text(in: TextRange(start: range.end, end: length)).utf8.count
    }

    /// The grapheme clusters of ``trimmedRange``: all but those left out, so that it costs what they do.
    var trimmedGraphemeCount: Int {
        let range = trimmedRange
        guard !range.isEmpty else { return 0 }
        let head = graphemeCount(in: TextRange(location: 0, length: range.location))
        return graphemeCount - head - graphemeCount(in: TextRange(start: range.end, end: length))
    }
}
