import ChatCore

/// A query in the language of SQLite's full-text search, and which index it is for.
///
/// The indexes hold no places of words: no phrases. A text's trigrams or words are looked for by themselves, and what
/// is found is compared with the text once more.
struct SearchExpression {
    enum Index: String {
        case words = "wordIndex"
        case parts = "partIndex"
    }

    let index: Index
    let match: String

    /// - Returns: nil for a query that asks for nothing.
    init?(_ query: SearchQuery, room: Int64?, sender: Int64?) {
        let facets = [room.map { "\"\(Self.mark)r\($0)\"" }, sender.map { "\"\(Self.mark)u\($0)\"" }].compactMap { $0 }
        let parts = query.matching == .part ? Self.trigrams(query.text) : []
        if !parts.isEmpty {
            index = .parts
            match = parts.joined(separator: " AND ")
            return
        }
        index = .words
        // The index's own tokenizer takes quoted text apart; a word that is none of its words it leaves out.
        let words = Self.words(query.text)
        let terms = words.enumerated().map { number, word in
            number == words.count - 1 ? "\"\(word)\"*" : "\"\(word)\""
        }
        guard !(terms + facets).isEmpty, terms.isEmpty == query.text.allSatisfy(\.isWhitespace) else { return nil }
        match = (facets + terms).joined(separator: " AND ")
    }

    /// Begins the index's words that are no words of the text.
    private static let mark = "\u{E000}"

    /// Runs of letters, digits and private-use characters, as the index's tokenizer divides.
    static func words(_ text: String) -> [String] {
        text.unicodeScalars.prefix(maximumLength).split { scalar in
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: false
            case .decimalNumber, .letterNumber, .otherNumber: false
            // Marks belong to the letter before them.
            case .nonspacingMark, .spacingMark, .enclosingMark: false
            default: true
            }
        }.prefix(32).map { String(String.UnicodeScalarView($0)) }
    }

    /// Each three characters in a row, quoted; none for a text of less.
    static func trigrams(_ text: String) -> [String] {
        let scalars = Array(text.unicodeScalars.prefix(maximumLength))
        guard scalars.count >= 3 else { return [] }
        var seen: Set<String> = []
        return (0...scalars.count - 3).compactMap { start in
            let part = String(String.UnicodeScalarView(scalars[start..<start + 3]))
            return seen.insert(part).inserted ? "\"\(part.replacing("\"", with: "\"\""))\"" : nil
        }
    }

    /// Scalars of a query that are looked at.
    private static let maximumLength = 1000
}
