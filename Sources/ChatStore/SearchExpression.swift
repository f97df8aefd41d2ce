import ChatCore

/// A query in the language of SQLite's full-text search, and which index it is for.
///
/// The indexes hold no places of words: no phrases. A text's trigrams or words are looked for by themselves, and what
/// is found is compared with the text once more.
struct SearchExpression {
    enum Index: String {
        case words = "wordIndex"
        case trigrams = "partIndex"
    }

    let index: Index
    let match: String

    /// What the indexes are to be asked, whose answers together hold all that can be found.
    ///
    /// - Returns: nil for a query that asks for nothing; none where the indexes know nothing of what is asked for, and
    ///   each message is to be looked at.
    static func all(
        for query: SearchQuery, terms: SearchTerms, rooms: Set<Int64>?, senders: Set<Int64>?
    ) -> [SearchExpression]? {
        let facets =
            facet("r", rooms) + facet("u", senders)
            + (query.contents.contains(.link) ? ["(\"https\" OR \"http\" OR \"www\")"] : [])
        if query.matching == .terms { return all(for: terms, facets, query) }
        let quotedTrigrams = query.matching == .substring ? trigrams(query.text) : []
        if !quotedTrigrams.isEmpty {
            return [SearchExpression(index: .trigrams, match: quotedTrigrams.joined(separator: " AND "))]
        }
        // The index's own tokenizer takes quoted text apart; a word that is none of its words it leaves out.
        let found = beginnings(of: query.text)
        guard found.isEmpty == query.text.allSatisfy(\.isWhitespace) else { return nil }
        return all(facets + found, or: query)
    }

    /// Each term as the beginning of a word, and, where it is long enough, as a part.
    private static func all(
        for terms: SearchTerms, _ facets: [String], _ query: SearchQuery
    ) -> [SearchExpression]? {
        if terms.isEmpty { return query.text.allSatisfy(\.isWhitespace) ? all(facets, or: query) : nil }
        let short = terms.terms.filter { $0.unicodeScalars.count < 3 }
        let quotedTrigrams = Set(terms.terms.flatMap(trigrams)).sorted()
        // Two letters within a word of a script without blanks: no index knows those.
        if quotedTrigrams.isEmpty, short.contains(where: { !SearchTerms.isFoundAtWordStart($0) }) { return [] }
        let words = terms.terms.flatMap(beginnings)
        var expressions: [SearchExpression] = []
        if !words.isEmpty {
            expressions.append(SearchExpression(index: .words, match: (facets + words).joined(separator: " AND ")))
        }
        if !quotedTrigrams.isEmpty {
            expressions.append(SearchExpression(index: .trigrams, match: quotedTrigrams.joined(separator: " AND ")))
        }
        return expressions
    }

    /// Each word, the last one as a beginning.
    private static func beginnings(of text: String) -> [String] {
        let found = words(text)
        return found.enumerated().map { $0 == found.count - 1 ? "\"\($1)\"*" : "\"\($1)\"" }
    }

    private static func all(_ match: [String], or query: SearchQuery) -> [SearchExpression]? {
        if match.isEmpty {
            return query.hasNoFilter && query.rooms == nil && query.senders == nil ? nil : []
        }
        // A message without a text is in no index, and may have a file.
        let isMaybeBare = query.text.allSatisfy(\.isWhitespace) && !query.contents.subtracting([.link]).isEmpty
        return isMaybeBare ? [] : [SearchExpression(index: .words, match: match.joined(separator: " AND "))]
    }

    private static func facet(_ letter: String, _ keys: Set<Int64>?) -> [String] {
        guard let keys else { return [] }
        // More would make a query longer than what is saved: what is found is looked at once more.
        if keys.count > 200 { return [] }
        return ["(\(keys.sorted().map { "\"\(facetPrefix)\(letter)\($0)\"" }.joined(separator: " OR ")))"]
    }

    /// Begins the index's words that are no words of the text.
    private static let facetPrefix = "\u{E000}"

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
            let trigram = String(String.UnicodeScalarView(scalars[start..<start + 3]))
            return seen.insert(trigram).inserted ? "\"\(trigram.replacing("\"", with: "\"\""))\"" : nil
        }
    }

    /// Scalars of a query that are looked at.
    private static let maximumLength = 1000
}
