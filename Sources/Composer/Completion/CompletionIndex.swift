/// A search index over the names of entities. The cost of a query depends on the number of matches rather than the
/// number of entities (MIB-26).
///
/// Ranking: recent entities and names that start with the query, then names with a word that starts with it, then
/// names that contain the letters of the query in order; within each, by the matched text. Ignores case, diacritics,
/// combining marks and character width. Build it off the main thread: 100,000 names take some tenths of a second.
public struct CompletionIndex: Sendable {
    /// The entities, in the order in which an empty query lists them.
    public let entities: [CompletionEntity]
    private let terms: TermTable
    private let pairs: LetterPairs
    private let disambiguatesNames: Bool

    /// - Parameters:
    ///   - entities: those without an identifier or a name are dropped; entities with equal identifiers are all
    ///     indexed.
    ///   - disambiguatesNames: whether entities that share a name and have no detail show their identifiers.
    ///   - aliases: additional search terms of an entity.
    public init(
        _ entities: [CompletionEntity], disambiguatesNames: Bool = false,
        aliases: (CompletionEntity) -> [String] = { _ in [] }
    ) {
        let entities = entities.filter { !$0.id.isEmpty && !$0.name.isEmpty }
        self.entities = entities
        self.disambiguatesNames = disambiguatesNames
        let terms = TermTable(entities, aliases: aliases)
        self.terms = terms
        pairs = terms.withUnits { units in LetterPairs(count: terms.count) { terms.text($0, in: units) } }
    }

    /// Returns the best matches, each with the ranges of its name to draw bold. An empty query matches all entities.
    ///
    /// - Parameters:
    ///   - recent: entities to rank first, the most recent first; the cost grows with their number.
    ///   - limit: the maximum number of matches.
    public func matches(of query: String, recent: [CompletionEntity] = [], limit: Int) -> [CompletionEntity] {
        var found = CompletionMatches(limit: limit)
        let pattern = FoldedText(query)
        pattern.units.withUnsafeBufferPointer { pattern in
            terms.withUnits { units in
                if pattern.words.isEmpty {
                    found.add(recent.map { Match(entity: $0, ranges: []) })
                    for entity in entities where !found.isFull { found.add(entity, []) }
                } else {
                    search(pattern, units, recent, &found)
                }
            }
        }
        return disambiguatesNames ? found.matches.map(disambiguated) : found.matches
    }

    typealias Match = (entity: CompletionEntity, ranges: [TextRange])

    private func search(
        _ pattern: FoldedUnits, _ units: FoldedUnits, _ recent: [CompletionEntity], _ found: inout CompletionMatches
    ) {
        var recentLetters: [Match] = []
        for entity in recent {
            let name = terms.folding.fold(entity.name)
            guard
                let (tier, matchedIndices) = name.units.withUnsafeBufferPointer({ CompletionTier.of(pattern, in: $0) })
            else {
                continue
            }
            let match = (entity, name.ranges(of: matchedIndices))
            if tier == .letters { recentLetters.append(match) } else { found.add([match]) }
        }
        addPrefixMatches(pattern, units, &found)
        let isOneWord = pattern.words.count == 1
        if isOneWord { addWordMatches(FoldedUnits(rebasing: pattern[pattern.words[0]]), units, &found) }
        guard !found.isFull else { return }
        addScatteredMatches(pattern, units, recentLetters, mayBeWords: !isOneWord, &found)
    }

    private func addPrefixMatches(_ pattern: FoldedUnits, _ units: FoldedUnits, _ found: inout CompletionMatches) {
        var term = terms.firstTerm(from: pattern, in: units)
        while !found.isFull, term < terms.count, terms.text(term, in: units).starts(with: pattern) {
            found.add(entities[terms.owner(term)], bold(0..<pattern.count, term, pattern))
            term += 1
        }
    }

    private func addWordMatches(_ word: FoldedUnits, _ units: FoldedUnits, _ found: inout CompletionMatches) {
        var wordIndex = terms.firstWord(from: word, in: units)
        while !found.isFull, wordIndex < terms.words.count, terms.word(wordIndex, in: units).starts(with: word) {
            let (term, start) = terms.words[wordIndex]
            let from = Int(start)
            found.add(entities[terms.owner(Int(term))], bold(from..<(from + word.count), Int(term), word))
            wordIndex += 1
        }
    }

    /// Adds matches in the middle of names. Names with several words of the query precede scattered letters.
    private func addScatteredMatches(
        _ pattern: FoldedUnits, _ units: FoldedUnits, _ recent: [Match], mayBeWords: Bool,
        _ found: inout CompletionMatches
    ) {
        var scattered = found.rest()
        scattered.add(recent)
        pairs.visit(holdersOf: pattern) { term in
            let text = terms.text(term, in: units)
            let entity = entities[terms.owner(term)]
            if mayBeWords, let matchedIndices = text.wordStarts(matching: pattern) {
                found.add(entity, bold(matchedIndices, term, pattern))
            } else if !scattered.isFull, let matchedIndices = text.matchedIndices(of: pattern) {
                scattered.add(entity, bold(matchedIndices, term, pattern))
            }
            return !found.isFull && (mayBeWords || !scattered.isFull)
        }
        for entity in scattered.matches { found.add(entity, entity.matched) }
    }

    /// The ranges of an entity's name to draw bold for a match in one of its terms.
    private func bold(_ matchedIndices: some Collection<Int>, _ term: Int, _ pattern: FoldedUnits) -> [TextRange] {
        let entity = entities[terms.owner(term)]
        if terms.isName(term), entity.name.utf8.allSatisfy({ $0 < 0x80 }) {
            return matchedIndices.reduce(into: []) { ranges, index in
                if let last = ranges.last, last.end == index {
                    ranges[ranges.count - 1].length += 1
                } else {
                    ranges.append(TextRange(location: index, length: 1))
                }
            }
        }
        let name = terms.folding.fold(entity.name)
        if terms.isName(term) { return name.ranges(of: Array(matchedIndices)) }
        let found = name.units.withUnsafeBufferPointer { CompletionTier.of(pattern, in: $0) }
        return found.map { name.ranges(of: $0.places) } ?? []
    }

    private func disambiguated(_ entity: CompletionEntity) -> CompletionEntity {
        guard entity.detail == nil, hasNamesake(entity) else { return entity }
        var entity = entity
        entity.detail = entity.id
        return entity
    }

    private func hasNamesake(_ entity: CompletionEntity) -> Bool {
        terms.folding.fold(entity.name).units.withUnsafeBufferPointer { name in
            terms.withUnits { units in
                var term = terms.firstTerm(from: name, in: units)
                while term < terms.count, terms.text(term, in: units).elementsEqual(name) {
                    if entities[terms.owner(term)].id != entity.id { return true }
                    term += 1
                }
                return false
            }
        }
    }
}

/// The kind of match of a query in a name, best first.
enum CompletionTier {
    case prefix, words, letters

    /// Whether a name matches a query in any way.
    static func meets(_ query: String, _ name: String) -> Bool {
        FoldedText(query).units.withUnsafeBufferPointer { query in
            FoldedText(name).units.withUnsafeBufferPointer { CompletionTier.of(query, in: $0) != nil }
        }
    }

    /// - Returns: the best kind of match and the matched units of the name, or `nil` without a match.
    static func of(_ pattern: FoldedUnits, in name: FoldedUnits) -> (tier: CompletionTier, places: [Int])? {
        if name.starts(with: pattern) { return (.prefix, Array(0..<pattern.count)) }
        if let matchedIndices = name.wordStarts(matching: pattern) { return (.words, matchedIndices) }
        return name.matchedIndices(of: pattern).map { (.letters, $0) }
    }
}

/// Collects matches, each entity once.
private struct CompletionMatches {
    private(set) var matches: [CompletionEntity] = []
    private let limit: Int
    private var seenIDs: Set<String> = []

    init(limit: Int) {
        self.limit = limit
    }

    var isFull: Bool { matches.count >= limit }

    /// Returns an empty collector for the remaining limit that rejects the entities of this one.
    func rest() -> CompletionMatches {
        var rest = CompletionMatches(limit: limit - matches.count)
        rest.seenIDs = seenIDs
        return rest
    }

    mutating func add(_ entity: CompletionEntity, _ ranges: @autoclosure () -> [TextRange]) {
        guard !isFull, seenIDs.insert(entity.id).inserted else { return }
        var entity = entity
        entity.matched = ranges()
        matches.append(entity)
    }

    mutating func add(_ found: [CompletionIndex.Match]) {
        for match in found { add(match.entity, match.ranges) }
    }
}
