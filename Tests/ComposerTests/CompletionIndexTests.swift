import Composer
import Foundation
import Fuzzing
import Testing

/// MIB-26: the index returns the same matches in the same order as a linear search.
struct CompletionIndexTests {
    private static let names = [
        "Ann", "Lee", "Ánna", "Zoë", "de", "von", "Müller", "李", "娜", "王", "Пётр", "Иванова", "محمد", "한", "하나", "👩‍💻",
        "O'Neil", "ann-marie", "j0hn", "Straße", "ＡＢ", "かな", "がん", "क", "किरण", "𝒜x", "x_y", "Æsir",
    ]

    private static func entities(_ count: Int, seed: UInt64) -> [CompletionEntity] {
        var random = SeededBytes(seed: seed)
        func pick() -> String { names[Int(random.next() ?? 0) % names.count] }
        return (0..<count).map { number in
            let words = (0..<(1 + Int(random.next() ?? 0) % 3)).map { _ in pick() }
            return CompletionEntity(id: "\(number)", name: words.joined(separator: number % 7 == 0 ? "" : " "))
        }
    }

    private static let queries = [
        "a", "an", "ann", "nn", "le", "an le", "a l", "ann  lee ", "mul", "müll", "李", "王李", "петр", "и", "한", "하", "か",
        "が", "क", "👩", "neil", "marie", "0h", "strasse", "ss", "ab", "x", "y", "zz", "-", "'", "_y", "ale", "nel", "aa",
        "𝒜", "æ", "von de", "de von",
    ]

    /// The tier of a match by linear search, or `nil` if the name does not match.
    private static func tier(_ query: String, _ name: String) -> Int? {
        func fold(_ text: String) -> String {
            text.folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
        }
        let (query, name) = (Array(fold(query)), Array(fold(name)))
        if name.starts(with: query) { return 0 }
        func isWord(_ character: Character) -> Bool { character.isLetter || character.isNumber }
        var from = 0
        let inWords = query.split(separator: " ").allSatisfy { word in
            let start = (from..<max(from, name.count)).first { place in
                isWord(name[place]) && (place == 0 || !isWord(name[place - 1])) && name[place...].starts(with: word)
            }
            from = (start ?? 0) + word.count
            return start != nil
        }
        if inWords { return 1 }
        var rest = name[...]
        for letter in query where letter != " " {
            guard let place = rest.firstIndex(of: letter) else { return nil }
            rest = rest[(place + 1)...]
        }
        return 2
    }

    /// Queries whose letters are single characters, for which a simple reference implementation suffices.
    @Test(arguments: queries.filter { $0.allSatisfy { $0.isASCII || "李王петри".contains($0) } })
    func matchesAgreeWithALinearSearch(query: String) {
        let entities = Self.entities(400, seed: 7)
        let found = CompletionIndex(entities).matches(of: query, limit: 1000)
        let tiers = Dictionary(uniqueKeysWithValues: entities.map { ($0.id, Self.tier(query, $0.name)) })
        #expect(Set(found.map(\.id)) == Set(entities.map(\.id).filter { tiers[$0]! != nil }))
        let order = found.map { tiers[$0.id]!! }
        #expect(order == order.sorted(), "prefixes, then words, then letters")
    }

    /// A limited result is a prefix of the full result, whatever the limit.
    @Test(arguments: queries)
    func limitedMatchesAreAPrefixOfAll(query: String) {
        let entities = Self.entities(300, seed: 11)
        let recent = [entities[5], entities[17], entities[100]]
        let index = CompletionIndex(entities)
        let all = index.matches(of: query, recent: recent, limit: 1000)
        #expect(Set(all.map(\.id)).count == all.count, "each once")
        for limit in [0, 1, 2, 8, 50] {
            let some = index.matches(of: query, recent: recent, limit: limit)
            if query.split(separator: " ").count < 2 { #expect(some == Array(all.prefix(limit))) }
            #expect(some.count == min(limit, all.count))
        }
    }

    /// Bold ranges cover whole characters of the name, in order.
    @Test(arguments: queries)
    func highlightedRangesCoverWholeCharacters(query: String) {
        for match in CompletionIndex(Self.entities(200, seed: 3)).matches(of: query, limit: 1000) {
            #expect(!match.matched.isEmpty)
            let document = ComposerDocument(match.name)
            for (range, next) in zip(match.matched, match.matched.dropFirst()) { #expect(range.end < next.location) }
            for range in match.matched { #expect(document.contains(range) && document.aligned(range) == range) }
        }
    }

    @Test func equalNamesAreDisambiguated() {
        let entities = ["Ann Lee", "ann  lee", "ánn lee", "Bob", "Bobby"].enumerated().map {
            CompletionEntity(id: "u\($0.offset)", name: $0.element)
        }
        let index = CompletionIndex(entities, disambiguatesNames: true)
        #expect(index.matches(of: "an", limit: 9).map(\.detail) == [nil, "u0", "u2"], "ann  lee is another name")
        #expect(index.matches(of: "b", limit: 9).map(\.detail) == [nil, nil])
        #expect(CompletionIndex(entities).matches(of: "", limit: 9).allSatisfy { $0.detail == nil })
    }

    @Test func aliasesMatchAnEntityOnce() {
        let wave = CompletionEntity(id: "👋", name: "wave", replacement: "👋")
        let index = CompletionIndex([wave]) { _ in ["waving hand", "hello"] }
        #expect(index.matches(of: "hel", limit: 9).map(\.id) == ["👋"])
        #expect(index.matches(of: "hel", limit: 9).first?.matched == [])
        #expect(index.matches(of: "wav", limit: 9).map(\.matched) == [[TextRange(location: 0, length: 3)]])
        #expect(index.matches(of: "hand", limit: 9).count == 1)
    }

    @Test func entitiesWithoutANameAreSkipped() {
        let entities = [CompletionEntity(id: "", name: "a"), CompletionEntity(id: "b", name: "")]
        #expect(CompletionIndex(entities).entities.isEmpty)
        #expect(CompletionIndex([]).matches(of: "a", limit: 5).isEmpty)
        #expect(CompletionIndex([CompletionEntity(id: "c", name: "\u{301}")]).matches(of: "a", limit: 5).isEmpty)
    }
}
