import Composer
import Testing

/// MIB-26, MIB-34.
struct RankingTests {
    private func ranked(_ query: String, _ names: [String], recent: [String] = []) -> [String] {
        let entities = names.map { CompletionEntity(id: $0, name: $0) }
        let recentEntities = recent.map { CompletionEntity(id: $0, name: $0) }
        return CompletionIndex(entities).matches(of: query, recent: recentEntities, limit: 100).map(\.name)
    }

    /// Query, names, recent names, expected order.
    static let orders: [(String, [String], [String], [String])] = [
        ("", ["B", "A"], [], ["B", "A"]), ("", ["B", "A", "C"], ["C", "A"], ["C", "A", "B"]),
        ("an", ["Dean", "Joan An", "Andy"], [], ["Andy", "Joan An", "Dean"]),
        ("an", ["Andy", "Joan An", "Anna"], ["Anna", "Joan An"], ["Anna", "Joan An", "Andy"]),
        ("an", ["Andy", "Dean"], ["Dean"], ["Andy", "Dean"]), ("x", ["Andy"], [], []),
        ("an le", ["Ann Lee", "Anleitung", "Lee Ann"], [], ["Ann Lee", "Anleitung"]),
        ("ax", ["Alexa"], [], ["Alexa"]), ("xa", ["Alex"], [], []), ("JÖ", ["jo", "Jörg"], [], ["jo", "Jörg"]),
        ("jorg", ["Jörg"], [], ["Jörg"]), ("ａｎ", ["Ann"], [], ["Ann"]), ("strasse", ["Straße"], [], ["Straße"]),
        ("李", ["王李", "李娜"], [], ["李娜", "王李"]), ("محمد", ["مُحَمَّد"], [], ["مُحَمَّد"]),
        ("зое", ["Зоё"], [], ["Зоё"]), ("하", ["한나", "나하"], [], ["한나", "나하"]), ("か", ["がん", "かん"], [], ["かん"]),
        ("кир", ["Кирилл", "किरण"], [], ["Кирилл"]), ("क", ["किरण"], [], ["किरण"]),
        ("an", ["Joan An", "Anzu", "Andy"], [], ["Andy", "Anzu", "Joan An"]),
    ]

    @Test(arguments: orders)
    func matchesAreRanked(query: String, names: [String], recent: [String], expected: [String]) {
        #expect(ranked(query, names, recent: recent) == expected)
    }

    /// Query, name, bold ranges.
    static let bold: [(String, String, [TextRange])] = [
        ("an", "Anna", [TextRange(location: 0, length: 2)]),
        ("an le", "Ann Lee", [TextRange(location: 0, length: 2), TextRange(location: 4, length: 2)]),
        ("aa", "Anna", [TextRange(location: 0, length: 1), TextRange(location: 3, length: 1)]),
        ("e", "👩‍💻é", [TextRange(location: 5, length: 1)]), ("", "Ann", []),
        ("strasse", "Straße", [TextRange(location: 0, length: 6)]),
    ]

    @Test(arguments: bold)
    func matchesAreHighlighted(query: String, name: String, ranges: [TextRange]) {
        let matches = CompletionIndex([CompletionEntity(id: "x", name: name)]).matches(of: query, limit: 1)
        #expect(matches.first?.matched == ranges)
    }
}
