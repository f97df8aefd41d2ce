/// The unit of a length limit.
public enum CountUnit: String, Hashable, Sendable, Codable, CaseIterable {
    /// Grapheme clusters (user-perceived characters).
    case graphemes
    /// UTF-16 code units, the unit of some servers.
    case utf16
    /// UTF-8 bytes, the unit of other servers.
    case utf8

    func count(_ text: some StringProtocol) -> Int {
        switch self {
        case .graphemes: text.count
        case .utf16: text.utf16.count
        case .utf8: text.utf8.count
        }
    }
}

/// Whether a limit applies to input or only to sending.
public enum LimitPolicy: String, Hashable, Sendable, Codable, CaseIterable {
    /// Disables sending while the text exceeds the limit (SLK-14).
    case soft
    /// Truncates user input to what fits (MCV-9). Text over the limit can always be shortened.
    case hard
}

/// The format of the counter for n of at most m characters (SLK-14).
public enum CounterStyle: String, Hashable, Sendable, Codable, CaseIterable {
    /// m − n: the remaining characters.
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

/// The host's measurement of the resulting message (SLK-14).
public struct MeasuredSize: Hashable, Sendable {
    /// The bytes over the host's limit; negative values are bytes left.
    public var excess: Int
    /// The length of the measured text in bytes.
    public var bytes: Int

    public init(excess: Int, bytes: Int) {
        self.excess = excess
        self.bytes = bytes
    }
}

/// The content of the counter beside the text.
public struct CounterState: Hashable, Sendable {
    /// The counter in the configured ``CounterStyle``.
    public let text: String
    /// Whether the text exceeds the limit.
    public let exceeded: Bool
    /// The number of units over the limit (positive) or left (negative).
    public let excess: Int
    /// What ``excess`` counts: the configured unit, or ``CountUnit/utf8`` for a size that the host measured, which
    /// includes more than the text.
    public let unit: CountUnit
    /// Whether the host measured the size of the message, rather than the text being counted against a limit.
    public let isMeasured: Bool

    private var margin: Int { unit == .utf8 ? 1000 : 20 }

    /// Whether the limit is near enough to show the counter: within the last 20 characters or 1,000 bytes, or exceeded.
    public var isNear: Bool { excess >= -margin }
}

extension ComposerConfiguration {
    /// The count of a document against the limit, for both the label and the check. The soft policy ignores leading
    /// and trailing white space and line breaks, whether or not sending trims them; the hard policy counts
    /// everything.
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

extension ComposerConfiguration {
    /// The counter for a document, or `nil` without a limit.
    ///
    /// - Parameter measured: the host's measurement, used if there is no limit of characters.
    func counter(of document: ComposerDocument, measured: MeasuredSize?) -> CounterState? {
        guard let limit else { return document.isEmpty ? nil : measured?.counter(of: document) }
        let count = limitedCount(of: document)
        let text = counterStyle.text(count: count, limit: limit)
        return CounterState(
            text: text, exceeded: count > limit, excess: count - limit, unit: countUnit, isMeasured: false)
    }

    /// Whether an automatic change stays within the hard limit.
    func fitsLimit(adding units: Int, to document: ComposerDocument) -> Bool {
        guard let limit, limitPolicy == .hard, units > 0 else { return true }
        return limitedCount(of: document) + units <= limit
    }

    /// Returns the start of a replacement that fits the hard limit, and the number of units that don't (MCV-9).
    /// Shortening always fits.
    func fitting(_ text: String, over range: TextRange, in document: ComposerDocument) -> (text: String, rejected: Int)
    {
        guard let limit, limitPolicy == .hard, !text.isEmpty else { return (text, 0) }
        func count(with text: some StringProtocol) -> Int {
            var result = document
            _ = result.replace(range, with: String(text))
            return limitedCount(of: result)
        }
        let whole = count(with: text)
        if whole <= limit || whole <= limitedCount(of: document) && text.utf16.count < range.length { return (text, 0) }
        // The replaced text frees space. The estimate may be off by a few, as grapheme clusters can merge at the
        // edges, so correct it by counting.
        var room = max(0, limit - count(with: ""))
        var prefix = countUnit.prefix(of: text, units: room)
        while room > 0, count(with: prefix) > limit {
            room -= 1
            prefix = countUnit.prefix(of: text, units: room)
        }
        return (String(prefix), countUnit.count(text) - countUnit.count(prefix))
    }
}

extension CountUnit {
    /// The whole characters at the start of a text that have at most this many units.
    fileprivate func prefix(of text: String, units: Int) -> Substring {
        guard self != .graphemes else { return text.prefix(units) }
        var end = text.startIndex
        var remainingUnits = units
        while end < text.endIndex {
            let next = text.index(after: end)
            let size = count(text[end..<next])
            if size > remainingUnits { break }
            remainingUnits -= size
            end = next
        }
        return text[..<end]
    }
}

extension MeasuredSize {
    fileprivate func counter(of document: ComposerDocument) -> CounterState {
        let excess = excess + document.byteCount - bytes
        return CounterState(
            text: "\(-excess)", exceeded: excess > 0, excess: excess, unit: .utf8, isMeasured: true)
    }
}

extension ComposerDocument {
    /// The range without leading and trailing white space and line breaks. The cost depends on the length of what it
    /// excludes.
    var trimmedRange: TextRange {
        isBlank ? .caret(0) : trimmed(TextRange(location: 0, length: length))
    }

    /// Returns a range without leading and trailing white space and line breaks; empty if it contains nothing else.
    func trimmed(_ range: TextRange) -> TextRange {
        let start = min(storage.firstOffset(from: range.location) { !$0.isBlank }, range.end)
        let end = storage.lastOffset(before: range.end) { !$0.isBlank }
        return TextRange(start: start, end: max(start, end))
    }

    /// The number of UTF-8 bytes in ``trimmedRange``.
    var trimmedByteCount: Int {
        let range = trimmedRange
        guard !range.isEmpty else { return 0 }
        return storage.utf8Count - text(in: TextRange(location: 0, length: range.location)).utf8.count
            - text(in: TextRange(start: range.end, end: length)).utf8.count
    }

    /// The number of grapheme clusters in ``trimmedRange``, computed by subtraction so that the cost depends on the
    /// excluded text.
    var trimmedGraphemeCount: Int {
        let range = trimmedRange
        guard !range.isEmpty else { return 0 }
        let head = graphemeCount(in: TextRange(location: 0, length: range.location))
        return graphemeCount - head - graphemeCount(in: TextRange(start: range.end, end: length))
    }
}
