import _RopeModule

/// A leaf of ``TextStorage``'s tree, of a few hundred bytes.
struct TextChunk: Sendable {
    /// In bytes. Larger chunks are split. An edit copies up to this much.
    static let maxSize = 512
    /// In bytes. Smaller chunks are merged with a neighbor.
    static let minSize = 128
    /// The chunk size, in bytes, for long insertions; below the maximum, to leave room for edits.
    private static let filledSize = 384

    private(set) var text: String
    private(set) var summary: TextSummary
    /// Index for offset lookups; not updated for ASCII, where byte and UTF-16 offsets are equal.
    private var breadcrumbs = UTF8Scan.Breadcrumbs()

    init(_ text: String) {
        self.text = text
        summary = TextSummary(of: text)
        updateBreadcrumbs()
    }

    private mutating func updateBreadcrumbs() {
        if !isASCII { breadcrumbs = UTF8Scan.breadcrumbs(of: text) }
    }

    var isASCII: Bool { summary.utf8 == summary.utf16 }

    /// The index of the scalar that contains a UTF-16 offset.
    func index(atUTF16 offset: Int) -> String.Index {
        text.utf8.index(text.startIndex, offsetBy: utf8Offset(atUTF16: offset))
    }

    /// The offset in bytes of the scalar that contains a UTF-16 offset.
    func utf8Offset(atUTF16 offset: Int) -> Int {
        isASCII ? offset : UTF8Scan.offset(atUTF16: offset, in: text, breadcrumbs)
    }

    func utf16Offset(of index: String.Index) -> Int {
        let utf8Offset = text.utf8.distance(from: text.startIndex, to: index)
        return isASCII ? utf8Offset : UTF8Scan.utf16Count(of: text, bytes: utf8Offset, breadcrumbs)
    }

    mutating func replace(_ range: TextRange, with replacement: String) {
        let bounds = index(atUTF16: range.location)..<index(atUTF16: range.end)
        summary.subtract(TextSummary(of: text[bounds]))
        summary.add(TextSummary(of: replacement))
        text.replaceSubrange(bounds, with: replacement)
        updateBreadcrumbs()
    }

    /// Splits a text into chunks within the size limits; a single or last chunk may be smaller.
    static func chunks(of text: String) -> [TextChunk] {
        var chunks: [TextChunk] = []
        var rest = text[...]
        while rest.utf8.count > maxSize {
            let end = scalarBoundary(in: rest, near: filledSize)
            chunks.append(TextChunk(String(rest[..<end])))
            rest = rest[end...]
        }
        if !rest.isEmpty { chunks.append(TextChunk(String(rest))) }
        return chunks
    }

    private static func scalarBoundary(in text: Substring, near offset: Int) -> String.Index {
        var index = text.utf8.index(text.startIndex, offsetBy: offset)
        while index < text.endIndex, UTF8.isContinuation(text.utf8[index]) { text.utf8.formIndex(before: &index) }
        return index
    }
}

extension TextChunk: RopeElement {
    typealias Index = String.Index

    var isEmpty: Bool { text.isEmpty }
    var isUndersized: Bool { summary.utf8 < Self.minSize }

    func invariantCheck() {
        precondition(summary == TextSummary(of: text), "a chunk's summary is not its text's")
    }

    mutating func rebalance(nextNeighbor right: inout TextChunk) -> Bool {
        let joined = text + right.text
        if joined.utf8.count <= Self.maxSize {
            self = TextChunk(joined)
            right = TextChunk("")
            return true
        }
        let middle = Self.scalarBoundary(in: joined[...], near: joined.utf8.count / 2)
        self = TextChunk(String(joined[..<middle]))
        right = TextChunk(String(joined[middle...]))
        return false
    }

    mutating func split(at index: String.Index) -> TextChunk {
        let rest = TextChunk(String(text[index...]))
        text = String(text[..<index])
        summary.subtract(rest.summary)
        updateBreadcrumbs()
        return rest
    }
}

/// The size of a text in UTF-8 bytes, UTF-16 code units and Unicode scalars.
struct TextSummary: Sendable, Equatable, RopeSummary {
    var utf8 = 0
    var utf16 = 0
    var scalars = 0

    static let maxNodeSize = 15
    static let zero = TextSummary()

    init() {}

    init(of text: some StringProtocol) {
        for byte in text.utf8 {
            utf8 += 1
            if !UTF8.isContinuation(byte) {
                scalars += 1
                utf16 += byte >= 0xF0 ? 2 : 1
            }
        }
    }

    var isZero: Bool { utf8 == 0 }

    mutating func add(_ other: TextSummary) {
        utf8 += other.utf8
        utf16 += other.utf16
        scalars += other.scalars
    }

    mutating func subtract(_ other: TextSummary) {
        utf8 -= other.utf8
        utf16 -= other.utf16
        scalars -= other.scalars
    }
}

struct UTF16Metric: RopeMetric {
    func size(of summary: TextSummary) -> Int { summary.utf16 }
    func index(at offset: Int, in chunk: TextChunk) -> String.Index { chunk.index(atUTF16: offset) }
}

struct UTF8Metric: RopeMetric {
    func size(of summary: TextSummary) -> Int { summary.utf8 }

    func index(at offset: Int, in chunk: TextChunk) -> String.Index {
        chunk.text.utf8.index(chunk.text.startIndex, offsetBy: offset)
    }
}

struct ScalarMetric: RopeMetric {
    func size(of summary: TextSummary) -> Int { summary.scalars }

    func index(at offset: Int, in chunk: TextChunk) -> String.Index {
        chunk.text.unicodeScalars.index(chunk.text.startIndex, offsetBy: offset)
    }
}
