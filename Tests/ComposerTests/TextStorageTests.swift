import Testing
import ToolSupport

@testable import Composer

/// Compares the text storage, a tree of chunks, with a plain `String`.
///
/// The tree is `_RopeModule`'s, which guarantees neither API nor behavior: a new version must pass these tests before
/// Package.swift adopts it.
struct TextStorageTests {
    /// Whole grapheme clusters, and fragments that combine with adjacent text.
    private static let fragments = [
        "a", "Words of prose, ", "\n", "\r", "\r\n", "\n\r", "é", "e\u{301}", "\u{301}", "\u{301}\u{302}", "한", "ㅎ",
        "\u{1112}\u{1161}\u{11AB}", "\u{1161}", "நி", "क्ष", "\u{94D}", "👍", "👍🏽", "🏽", "👩‍💻", "👩", "\u{200D}", "💻", "🇩🇪",
        "🇩", "🇪🇫", "❤️", "\u{FE0F}", "1️⃣", "\u{20E3}", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "\u{E0067}", "\0", "\u{202E}", "\u{2028}", "\u{FEFF}", "日本語",
        "𝄞", "\u{10FFFF}",
    ]

    private static func text(_ count: Int, _ random: inout SeededGenerator) -> String {
        (0..<count).reduce(into: "") { text, _ in text += fragments.randomElement(using: &random)! }
    }

    /// Sizes from a single chunk to many: edits fall within a chunk, across chunks, and across tree nodes.
    @Test(arguments: [(3, 400, 0), (40, 400, 1), (400, 250, 2), (400, 250, 3), (4000, 80, 4), (20_000, 25, 5)])
    func editsMatchThoseOfAString(length: Int, edits: Int, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let start = Self.text(length, &random)
        var storage = TextStorage(start)
        var scalars = Array(start.unicodeScalars)
        expect(storage, is: scalars, &random)
        for edit in 0..<edits {
            let from = Int.random(in: 0...scalars.count, using: &random)
            // Mostly short ranges, occasionally long ones.
            let most = Int.random(in: 0..<8, using: &random) == 0 ? scalars.count - from : min(12, scalars.count - from)
            let to = from + Int.random(in: 0...most, using: &random)
            let count = Int.random(in: 0..<10, using: &random) == 0 ? length / 4 : 3
            let new = Self.text(Int.random(in: 0...count, using: &random), &random)
            let location = scalars[..<from].reduce(0) { $0 + $1.utf16.count }
            let range = TextRange(
                location: location, length: scalars[from..<to].reduce(0) { $0 + $1.utf16.count })
            storage.replace(range, with: new)
            scalars.replaceSubrange(from..<to, with: new.unicodeScalars)
            if length < 1000 || edit.isMultiple(of: 5) { expect(storage, is: scalars, &random) }
        }
        storage.replace(TextRange(location: 0, length: storage.utf16Count), with: "")
        expect(storage, is: [], &random)
    }

    private func expect(_ storage: TextStorage, is scalars: [Unicode.Scalar], _ random: inout SeededGenerator) {
        let model = PlainText(scalars)
        #expect(storage.string.utf8.elementsEqual(model.text.utf8))
        #expect(storage.utf16Count == model.utf16.count && storage.scalarCount == scalars.count)
        #expect(storage.graphemeCount == model.clusters.count - 1 && storage.isEmpty == scalars.isEmpty)
        #expect(storage == TextStorage(model.text))
        for _ in 0..<12 {
            let offset = Int.random(in: 0...model.utf16.count, using: &random)
            expect(storage, is: model, at: offset)
            let end = Int.random(in: offset...min(offset + 3000, model.utf16.count), using: &random)
            let (from, to) = (model.scalarStart(at: offset), model.scalarStart(at: end))
            let part = storage.string(in: TextRange(start: from, end: to))
            #expect(part.utf16.elementsEqual(model.utf16[from..<to]))
        }
        for edge in [0, model.utf16.count] { expect(storage, is: model, at: edge) }
    }

    private func expect(_ storage: TextStorage, is model: PlainText, at offset: Int) {
        let start = model.scalarStart(at: offset)
        #expect(storage.scalarStart(at: offset) == start)
        let scalar = model.scalarOffsets.partitioningIndex { $0 >= start }
        #expect(storage.scalarOffset(ofUTF16: start) == scalar)
        #expect(storage.utf16Offset(ofScalar: scalar) == start)
        #expect(storage.scalar(at: start) == (scalar < model.scalars.count ? model.scalars[scalar] : nil))
        #expect(storage.scalar(before: start) == (scalar > 0 ? model.scalars[scalar - 1] : nil))

        let after = model.clusters.partitioningIndex { $0 > start }
        let cluster = model.clusters[after - 1]
        #expect(storage.clusterStart(at: offset) == cluster)
        #expect(storage.clusterEnd(at: offset) == (cluster == offset ? offset : model.clusters[after]))
        let before = cluster == offset ? max(after - 2, 0) : after - 1
        #expect(storage.clusterBoundary(before: offset) == model.clusters[before])
        if start < model.utf16.count {
            #expect(storage.clusterBoundary(after: offset) == model.clusters[after])
            let character = storage.character(at: offset).map { Array(String($0).utf16) }
            #expect(character == Array(model.utf16[cluster..<model.clusters[after]]))
        }
    }

    /// Text typed between two halves joins or separates them.
    @Test(arguments: [
        ("\r", "\n", 1), ("e", "\u{301}", 1), ("🇩", "🇪", 1), ("👩\u{200D}", "💻", 1), ("👍", "🏽", 1), ("ᄒ", "ᅡ", 1),
        ("a", "b", 2), ("\n", "\r", 2), ("🇩🇪", "🇫", 2),
    ])
    func clustersJoinAndSplit(_ first: String, _ second: String, together: Int) {
        // The boundary falls within a chunk, at a chunk's end, and deep in a large tree.
        for head in [0, 1, 383, 384, 511, 512, 5000, 100_000] {
            var storage = TextStorage(String(repeating: "x", count: head) + first + second)
            #expect(storage.graphemeCount == head + together)
            storage.replace(.caret(head + first.utf16.count), with: "y")
            #expect(storage.graphemeCount == (String(repeating: "x", count: head) + first + "y" + second).count)
            storage.replace(TextRange(location: head + first.utf16.count, length: 1), with: "")
            #expect(storage.graphemeCount == head + together)
        }
    }

    /// Value semantics: changing a copy does not affect the original.
    @Test func copiesAreIndependent() {
        var random = SeededGenerator(seed: 6)
        let first = TextStorage(Self.text(2000, &random))
        let before = first.string
        var second = first
        #expect(first == second)
        second.replace(TextRange(location: 0, length: 1), with: "z")
        second.replace(.caret(second.utf16Count), with: String(repeating: "é", count: 2000))
        #expect(first.string == before && first != second)
        #expect(first != TextStorage(before + "\u{301}"))
    }
}

/// A reference implementation that stores all offsets in arrays.
private struct PlainText {
    let scalars: [Unicode.Scalar]
    let text: String
    let utf16: [UInt16]
    /// The offsets of all scalars, and of the end.
    let scalarOffsets: [Int]
    /// The offsets of all grapheme clusters, and of the end.
    let clusters: [Int]

    init(_ scalars: [Unicode.Scalar]) {
        self.scalars = scalars
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        self.text = String(text)
        utf16 = Array(self.text.utf16)
        scalarOffsets = scalars.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.utf16.count) }
        clusters = self.text.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.utf16.count) }
    }

    func scalarStart(at offset: Int) -> Int {
        offset < utf16.count && UTF16.isTrailSurrogate(utf16[offset]) ? offset - 1 : offset
    }
}

extension [Int] {
    /// The first index whose element satisfies the condition, or the end; the array must be partitioned by the
    /// condition.
    fileprivate func partitioningIndex(_ condition: (Int) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if condition(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
