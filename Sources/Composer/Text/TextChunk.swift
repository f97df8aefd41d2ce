import _RopeModule

/// A few hundred bytes of a text: a leaf of ``TextStorage``'s tree.
struct TextChunk: Sendable {
    /// Larger chunks are split; an edit costs up to this many bytes of copying.
    static let maximumSize = 512
    /// Smaller chunks are joined with a neighbour.
    static let minimumSize = 128
    /// What a long text is cut into, so that there is room to write in each chunk.
    private static let filledSize = 384

    private(set) var text: String
    private(set) var summary: TextSummary
    /// From where to look for an offset; not kept up for ASCII, which needs no looking.
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

    /// The index of the scalar that a UTF-16 offset lies in.
    func index(atUTF16 offset: Int) -> String.Index {
        let utf8Offset = isASCII ? offset : UTF8Scan.offset(atUTF16: offset, in: text, breadcrumbs)
        return text.utf8.index(text.startIndex, offsetBy: utf8Offset)
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

    /// A long text as chunks that are neither too large nor, but for a single one, too small.
    static func chunks(of text: String) -> [TextChunk] {
        var chunks: [TextChunk] = []
        var rest = text[...]
        while rest.utf8.count > maximumSize {
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
    var isUndersized: Bool { summary.utf8 < Self.minimumSize }

    func invariantCheck() {
        precondition(summary == TextSummary(of: text), "a chunk's summary is not its text's")
    }

    mutating func rebalance(nextNeighbor right: inout TextChunk) -> Bool {
        let joined = text + right.text
        if joined.utf8.count <= Self.maximumSize {
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

/// The sizes of a piece of text.
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
