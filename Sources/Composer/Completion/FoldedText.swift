import Foundation
import Synchronization

/// A text folded for comparison, without case, diacritics and character width, in UTF-16 code units that map back to
/// the original text (MIB-26).
struct FoldedText {
    let units: [UInt16]
    /// The original range of each unit; `nil` if they map one to one.
    private let origins: [TextRange]?

    init(_ text: String) {
        var folding = Folding()
        self.init(text, with: &folding)
    }

    init(_ text: String, with folding: inout Folding) {
        if let units = Folding.plain(text) {
            self.units = units
            origins = nil
            return
        }
        var units: [UInt16] = []
        var origins: [TextRange] = []
        var location = 0
        for character in text {
            let length = character.utf16.count
            // "ß" folds to two letters, a lone combining mark to none.
            for unit in folding.fold(character) {
                units.append(unit)
                origins.append(TextRange(location: location, length: length))
            }
            location += length
        }
        self.units = units
        self.origins = origins
    }

    /// Returns the original ranges of units, with adjacent ones merged.
    func ranges(of matchedIndices: [Int]) -> [TextRange] {
        matchedIndices.reduce(into: []) { ranges, index in
            let range = origins?[index] ?? TextRange(location: index, length: 1)
            if let last = ranges.last, last.end >= range.location {
                ranges[ranges.count - 1] = TextRange(start: last.location, end: max(last.end, range.end))
            } else {
                ranges.append(range)
            }
        }
    }
}

/// A folding cache that the queries of an index share across threads.
final class SharedFolding: Sendable {
    private let folding: Mutex<Folding>

    init(_ folding: Folding) {
        self.folding = Mutex(folding)
    }

    func fold(_ text: String) -> FoldedText {
        folding.withLock { FoldedText(text, with: &$0) }
    }
}

/// Folds characters, with a cache.
struct Folding {
    /// Voicing marks of kana: か must not match が.
    private static let voicing: ClosedRange<Unicode.Scalar> = "\u{3099}"..."\u{309A}"
    private var cache: [Character: [UInt16]] = [:]

    /// Returns the folded units of an ASCII text, or `nil` for other texts.
    static func plain(_ text: String) -> [UInt16]? {
        var text = text
        return text.withUTF8 { bytes in
            guard bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
            return bytes.map { (0x41...0x5A).contains($0) ? UInt16($0) | 0x20 : UInt16($0) }
        }
    }

    mutating func fold(_ character: Character) -> [UInt16] {
        if let folded = cache[character] { return folded }
        let text = Self.withoutMarks(character).folding(
            options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
        let isVoiced = text.unicodeScalars.contains { Self.voicing.contains($0) }
        let folded = Array((isVoiced ? text.precomposedStringWithCanonicalMapping : text).utf16)
        // Names use few distinct characters; bound the cache against input that doesn't.
        if cache.count < 20_000 { cache[character] = folded }
        return folded
    }

    /// Removes combining marks that names are often written without and that Foundation's folding retains, such as
    /// Arabic vowels. Indic vowel signs and kana voicing marks distinguish letters and stay. Decomposes Hangul into
    /// jamo, so that 하 matches 한.
    private static func withoutMarks(_ character: Character) -> String {
        if character.isASCII { return String(character) }
        let scalars = String(character).decomposedStringWithCanonicalMapping.unicodeScalars.filter { scalar in
            [0, 7, 8, 9].contains(scalar.properties.canonicalCombiningClass.rawValue)
        }
        return String(String.UnicodeScalarView(scalars))
    }
}

// MARK: - Matching

/// Folded UTF-16 code units.
typealias FoldedUnits = UnsafeBufferPointer<UInt16>

extension FoldedUnits {
    /// Whether a word starts at an index. Words consist of letters, digits and their combining marks.
    func startsWord(_ index: Int) -> Bool {
        isWord(index) && (index == 0 || !isWord(index - 1))
    }

    private func isWord(_ index: Int) -> Bool {
        let unit = self[index]
        if unit < 0x80 { return (0x30...0x39).contains(unit) || (0x61...0x7A).contains(unit) }
        guard let scalar = scalar(at: index) else { return false }
        if scalar.properties.isAlphabetic || scalar == "\u{200D}" { return true }
        return switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber: true
        default: false
        }
    }

    private func scalar(at index: Int) -> Unicode.Scalar? {
        let unit = self[index]
        if let scalar = Unicode.Scalar(unit) { return scalar }
        let isTrail = UTF16.isTrailSurrogate(unit)
        let lead = isTrail ? index - 1 : index
        guard lead >= 0, lead + 1 < count, UTF16.isLeadSurrogate(self[lead]) else { return nil }
        return UTF16.decode(UTF16.EncodedScalar([self[lead], self[lead + 1]]))
    }

    func starts(with other: FoldedUnits, at index: Int = 0) -> Bool {
        guard other.count <= count - index else { return false }
        for offset in 0..<other.count where self[index + offset] != other[offset] { return false }
        return true
    }

    /// The matched indices if each word of the query starts a word of the text, in order (`an le` in `Ann Lee`), or
    /// `nil`.
    func wordStarts(matching query: FoldedUnits) -> [Int]? {
        var matchedIndices: [Int] = []
        var from = 0
        for word in query.words {
            let word = FoldedUnits(rebasing: query[word])
            guard
                let start = (from..<Swift.max(from, count)).first(where: {
                    startsWord($0) && starts(with: word, at: $0)
                })
            else { return nil }
            matchedIndices += start..<(start + word.count)
            from = start + word.count
        }
        return matchedIndices.isEmpty ? nil : matchedIndices
    }

    /// Whether the text contains the units of a query in order: a cheap necessary condition for
    /// ``matchedIndices(of:)``.
    private func holdsInOrder(_ query: FoldedUnits) -> Bool {
        var number = 0
        for unit in self {
            while number < query.count, query[number].isBlank { number += 1 }
            guard number < query.count else { return true }
            if query[number] == unit { number += 1 }
        }
        while number < query.count, query[number].isBlank { number += 1 }
        return number == query.count
    }

    /// The indices of the letters of a query, in order, or `nil`. Surrogate pairs match as a whole.
    func matchedIndices(of query: FoldedUnits) -> [Int]? {
        guard holdsInOrder(query) else { return nil }
        var matchedIndices: [Int] = []
        var from = 0
        var number = 0
        while number < query.count {
            let length = UTF16.isLeadSurrogate(query[number]) && number + 1 < query.count ? 2 : 1
            let letter = FoldedUnits(rebasing: query[number..<(number + length)])
            number += length
            if letter[0].isBlank { continue }
            while from < count, !starts(with: letter, at: from) { from += 1 }
            guard from < count else { return nil }
            matchedIndices += from..<(from + length)
            from += length
        }
        return matchedIndices.isEmpty ? nil : matchedIndices
    }

    /// The ranges of the words, which blanks separate.
    var words: [Range<Int>] {
        var words: [Range<Int>] = []
        var start = 0
        for index in 0...count where index == count || self[index].isBlank {
            if start < index { words.append(start..<index) }
            start = index + 1
        }
        return words
    }
}

extension UInt16 {
    var isBlank: Bool {
        if self < 0x80 { return self == 0x20 || (0x09...0x0D).contains(self) }
        return Unicode.Scalar(self)?.properties.isWhitespace ?? false
    }
}
