/// The terms of a search, all of which must match, ignoring case, diacritics and width.
///
/// A term matches anywhere, even within words. But a term of fewer than three letters, in a script that separates
/// words, matches only at the beginning of a word: "a" would otherwise highlight almost everything.
public struct SearchTerms: Hashable, Sendable {
    /// The maximum number of terms, and of scalars in each.
    public static let maxTerms = 16
    public static let maxScalars = 200

    /// The terms as typed.
    public let terms: [String]
    private let needles: [Needle]

    private struct Needle: Hashable {
        var units: [UInt32]
        var isWordStart: Bool
    }

    public init(terms: [String]) {
        var acceptedTerms: [String] = []
        var needles: [Needle] = []
        for term in terms.prefix(Self.maxTerms) {
            let term = String(String.UnicodeScalarView(term.unicodeScalars.prefix(Self.maxScalars)))
            let units = FoldedScalars(term).units
            guard !units.isEmpty else { continue }
            acceptedTerms.append(term)
            needles.append(Needle(units: units, isWordStart: Self.isShort(units)))
        }
        self.terms = acceptedTerms
        self.needles = needles
    }

    /// Parses terms as typed: separated by white space, with double quotes around a term of several words.
    public init(_ text: String) {
        self.init(terms: Self.split(text))
    }

    public var isEmpty: Bool { terms.isEmpty }

    /// Whether a term matches only at the beginning of a word.
    public static func isFoundAtWordStart(_ term: String) -> Bool { isShort(FoldedScalars(term).units) }

    public func matches(_ text: String) -> Bool {
        guard !needles.isEmpty else { return true }
        let folded = FoldedScalars(text)
        return needles.allSatisfy {
            folded.firstIndex(of: $0.units, from: 0, atWordStart: $0.isWordStart) != nil
        }
    }

    /// Whether each term matches at the beginning of a word, as for names.
    public func matchesWordStarts(of text: String) -> Bool {
        let folded = FoldedScalars(text)
        return needles.allSatisfy { folded.firstIndex(of: $0.units, from: 0, atWordStart: true) != nil }
    }

    /// Returns the ranges of matches in UTF-8 code units, sorted and not overlapping; at most `limit`.
    public func ranges(in text: String, limit: Int = 1000) -> [Range<Int>] {
        guard !needles.isEmpty else { return [] }
        let folded = FoldedScalars(text)
        var found: [Range<Int>] = []
        for needle in needles {
            var position = 0
            while found.count < limit * needles.count,
                let next = folded.firstIndex(of: needle.units, from: position, atWordStart: needle.isWordStart)
            {
                position = next + needle.units.count
                found.append(folded.offsets[next]..<folded.offsets[position])
            }
        }
        return Array(Self.joined(found).prefix(limit))
    }

    private static func joined(_ ranges: [Range<Int>]) -> [Range<Int>] {
        ranges.sorted { $0.lowerBound < $1.lowerBound }.reduce(into: []) { joined, range in
            if let last = joined.last, last.upperBound >= range.lowerBound {
                joined[joined.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                joined.append(range)
            }
        }
    }

    private static func isShort(_ units: [UInt32]) -> Bool {
        units.count < 3 && units.allSatisfy { FoldedScalars.isWord($0) && $0 < 0x0E00 }
    }

    private static func split(_ text: String) -> [String] {
        var terms: [String] = []
        var term = ""
        var isQuoted = false
        func end() {
            let trimmed = term.drop { $0.isWhitespace }
            if !trimmed.isEmpty { terms.append(String(trimmed)) }
            term = ""
        }
        for character in text {
            if SearchTerms.quotes.contains(character) {
                end()
                isQuoted.toggle()
            } else if character.isWhitespace, !isQuoted {
                end()
            } else {
                term.append(character)
            }
        }
        end()
        return terms
    }

    /// The quotation marks around a term of several words.
    public static let quotes: Set<Character> = ["\"", "“", "”", "„"]
}
