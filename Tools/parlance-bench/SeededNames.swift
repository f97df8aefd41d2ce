/// Deterministic names and queries for them: mostly Latin, some with diacritics, some in other scripts.
enum SeededNames {
    private static let first = [
        "Anna", "Ben", "Carla", "David", "Emma", "Felix", "Greta", "Hugo", "Ida", "Jonas", "Katharina", "Liam", "Mara",
        "Noah", "Olivia", "Paul", "Quentin", "Rosa", "Samuel", "Theresa", "Ulrich", "Valentina", "William", "Xenia",
        "Yusuf", "Zoë", "Åsa", "Björn", "Čeněk", "Dürten", "Élodie", "François", "Łukasz", "Nuño", "Øyvind", "Šárka",
        "Пётр", "Анна", "Ирина", "محمد", "فاطمة", "李", "王", "陳", "田中", "佐藤", "김", "박", "अमित", "Νίκος",
    ]
    private static let last = [
        "Abel", "Baker", "Castillo", "Dietrich", "Eriksen", "Fischer", "García", "Hoffmann", "Ivanov", "Johnson", "Kim",
        "Larsson", "Müller", "Novák", "O'Brien", "Petersen", "Quinn", "Rossi", "Schmidt", "Taylor", "Underwood",
        "Vargas", "Wagner", "Xu", "Yilmaz", "Zimmermann", "de la Cruz", "van den Berg", "Świątek", "Nguyễn", "Smith",
        "Brown", "Martin", "Lopez", "Lee", "Moreau", "Andersson", "Kowalski", "Papadopoulos", "Haddad",
    ]

    /// A generator with a fixed algorithm; the system's may change.
    private struct Random {
        var state: UInt64 = 0x5EED

        mutating func below(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }
    }

    static func names(_ count: Int) -> [String] {
        var random = Random()
        return (0..<count).map { number in
            let name = "\(first[random.below(first.count)]) \(last[random.below(last.count)])"
            return switch random.below(10) {
            case 0: name + " \(last[random.below(last.count)])"
            case 1: name + String(number)
            case 2: name.lowercased()
            default: name
            }
        }
    }

    /// Queries as users type them: prefixes of names and of words in them, and occasionally scattered letters of a name
    /// or of none.
    static func queries(_ count: Int, minimum: Int) -> [String] {
        var random = Random(state: 0xF00D)
        var queries: [String] = []
        while queries.count < count {
            let name = "\(first[random.below(first.count)]) \(last[random.below(last.count)])"
            let length = minimum + random.below(5)
            let query =
                switch random.below(8) {
                case 0, 1: String(name.split(separator: " ").last!.prefix(length))
                case 2: String(name.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element).prefix(length))
                case 3: String(name.reversed().prefix(length))
                default: String(name.prefix(length))
                }
            if query.count >= minimum { queries.append(query.lowercased()) }
        }
        return queries
    }
}
