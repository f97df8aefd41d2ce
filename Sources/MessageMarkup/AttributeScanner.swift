/// Takes the attributes of a tag one after the other, up to its `>`.
struct AttributeScanner {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let end: Int
    /// Behind the last attribute: at the `>`, or at the end.
    private(set) var place: Int

    init(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
        self.bytes = bytes
        place = range.lowerBound
        end = range.upperBound
    }

    /// The next name and its value without quotes, as they stand.
    mutating func next() -> (name: Range<Int>, value: Range<Int>)? {
        while let byte = current, byte.isSpace || byte == .slash { place += 1 }
        guard let first = current, first != .greaterThan else { return nil }
        let nameStart = place
        // A `=` at the beginning belongs to the name.
        place += 1
        while let byte = current, !byte.isSpace, byte != .slash, byte != .greaterThan, byte != .equals { place += 1 }
        let name = nameStart..<place
        while let byte = current, byte.isSpace { place += 1 }
        guard current == .equals else { return (name, place..<place) }
        place += 1
        while let byte = current, byte.isSpace { place += 1 }
        return (name, value())
    }

    private mutating func value() -> Range<Int> {
        guard let quote = current, quote == .doubleQuote || quote == .singleQuote else {
            let start = place
            while let byte = current, !byte.isSpace, byte != .greaterThan { place += 1 }
            return start..<place
        }
        place += 1
        let start = place
        while let byte = current, byte != quote { place += 1 }
        defer { place = min(place + 1, end) }
        return start..<place
    }

    private var current: UInt8? { place < end ? bytes[place] : nil }
}
