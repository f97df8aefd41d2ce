import Foundation

/// The order in which people expect matches, whatever the case, the diacritics and the width of letters (MIB-26).
///
/// People that spoke lately and names that begin with the query come first, then names of which a word does, then
/// those that hold the query's letters in order; else the order stays.
public struct CompletionRanking: Sendable {
    /// A match, and what of its name is drawn bold (MIB-34).
    public struct Match: Hashable, Sendable {
        public var entity: CompletionEntity
        /// In UTF-16 units of the name, in order.
        public var ranges: [TextRange]
    }

    private enum Tier: Int {
        case prefix, wordStart, letters
    }

    /// Places in the list of recent entities by their identifiers.
    private let recency: [String: Int]

    /// - Parameter recent: identifiers of entities that matter most, the most recent first.
    public init(recent: [String] = []) {
        recency = Dictionary(zip(recent, 0...), uniquingKeysWith: min)
    }

    /// The entities that match, the best first. An empty query is matched by all.
    public func matches(of query: String, among entities: [CompletionEntity]) -> [Match] {
        let pattern = FoldedText(query)
        let ranked = entities.enumerated().compactMap { place, entity -> (key: [Int], match: Match)? in
            guard let (tier, ranges) = Self.match(pattern, FoldedText(entity.name)) else { return nil }
            let recent = recency[entity.id]
            let promoted = recent != nil && tier == .wordStart ? Tier.prefix : tier
            return ([promoted.rawValue, recent ?? .max, place], Match(entity: entity, ranges: ranges))
        }
        return ranked.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.match)
    }

    private static func match(_ pattern: FoldedText, _ name: FoldedText) -> (Tier, [TextRange])? {
        if pattern.letters.isEmpty { return (.prefix, []) }
        if name.letters.starts(with: pattern.letters) {
            return (.prefix, name.ranges(of: Array(0..<pattern.letters.count)))
        }
        if let places = name.wordStarts(matching: pattern) { return (.wordStart, name.ranges(of: places)) }
        if let places = name.places(of: pattern) { return (.letters, name.ranges(of: places)) }
        return nil
    }
}

/// A text letter by letter without regard to case, diacritics and width, each with where it stands.
private struct FoldedText {
    private(set) var letters: [Character] = []
    private var origins: [TextRange] = []

    init(_ text: String) {
        var location = 0
        for character in text {
            let length = character.utf16.count
            let folded = Self.withoutMarks(character).folding(
                options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
            // "ß" folds to two letters, a lone mark to none.
            for letter in folded {
                letters.append(letter)
                origins.append(TextRange(location: location, length: length))
            }
            location += length
        }
    }

    /// Without the marks that a name is often written without, as Arabic vowels are, which folding leaves. Vowels of
    /// Indic scripts and the voicing of kana tell letters apart and stay.
    private static func withoutMarks(_ character: Character) -> String {
        if character.isASCII { return String(character) }
        let scalars = String(character).decomposedStringWithCanonicalMapping.unicodeScalars.filter { scalar in
            [0, 7, 8, 9].contains(scalar.properties.canonicalCombiningClass.rawValue)
        }
        return String(String.UnicodeScalarView(scalars))
    }

    private func startsWord(_ place: Int) -> Bool {
        letters[place].isWordCharacter && (place == 0 || !letters[place - 1].isWordCharacter)
    }

    /// Where the words of a query stand if each begins a word of the text, in order: `an le` in `Ann Lee`.
    func wordStarts(matching query: FoldedText) -> [Int]? {
        let words = query.letters.split(whereSeparator: \.isBlank)
        var places: [Int] = []
        var from = 0
        for word in words {
            let start = (from..<max(from, letters.count)).first { place in
                startsWord(place) && letters[place...].starts(with: word)
            }
            guard let start else { return nil }
            places += start..<(start + word.count)
            from = start + word.count
        }
        return places.isEmpty ? nil : places
    }

    /// Where the letters of a query stand, in order.
    func places(of query: FoldedText) -> [Int]? {
        var places: [Int] = []
        var from = 0
        for letter in query.letters where !letter.isBlank {
            guard let place = letters[from...].firstIndex(of: letter) else { return nil }
            places.append(place)
            from = place + 1
        }
        return places.isEmpty ? nil : places
    }

    /// The ranges of letters in the text, neighbours joined.
    func ranges(of places: [Int]) -> [TextRange] {
        places.reduce(into: []) { ranges, place in
            let range = origins[place]
            if let last = ranges.last, last.end >= range.location {
                ranges[ranges.count - 1] = TextRange(start: last.location, end: max(last.end, range.end))
            } else {
                ranges.append(range)
            }
        }
    }
}
