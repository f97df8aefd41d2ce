/// Scans the attributes of an HTML tag up to its `>`.
struct AttributeScanner {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let end: Int
    /// The position after the last attribute: at the `>` or at the end.
    private(set) var position: Int

    init(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
        self.bytes = bytes
        position = range.lowerBound
        end = range.upperBound
    }

    /// Returns the ranges of the next name and its value without quotes; entities are not decoded.
    mutating func next() -> (name: Range<Int>, value: Range<Int>)? {
        while let byte = current, byte.isSpace || byte == .slash { position += 1 }
        guard let first = current, first != .greaterThan else { return nil }
        let nameStart = position
        // A leading `=` is part of the name (HTML, before attribute name state).
        position += 1
        while let byte = current, !byte.isSpace, byte != .slash, byte != .greaterThan, byte != .equals { position += 1 }
        let name = nameStart..<position
        while let byte = current, byte.isSpace { position += 1 }
        guard current == .equals else { return (name, position..<position) }
        position += 1
        while let byte = current, byte.isSpace { position += 1 }
        return (name, value())
    }

    private mutating func value() -> Range<Int> {
        guard let quote = current, quote == .doubleQuote || quote == .singleQuote else {
            let start = position
            while let byte = current, !byte.isSpace, byte != .greaterThan { position += 1 }
            return start..<position
        }
        position += 1
        let start = position
        while let byte = current, byte != quote { position += 1 }
        defer { position = min(position + 1, end) }
        return start..<position
    }

    private var current: UInt8? { position < end ? bytes[position] : nil }
}
