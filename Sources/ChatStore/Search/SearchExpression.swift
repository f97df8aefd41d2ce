import ChatCore

/// An FTS5 query and the index that it is for.
///
/// The indexes have no token positions (`detail=none`), so phrases are not possible. Trigrams or words are matched
/// individually, and results are verified against the text.
struct SearchExpression {
    enum Index: String {
        case words = "wordIndex"
        case trigrams = "partIndex"
    }

    let index: Index
    let match: String

    /// Returns the queries whose combined results contain all matches.
    ///
    /// - Returns: `nil` if nothing can match; an empty array if the indexes cannot help and every message has to be
    ///   examined.
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
        // FTS5's tokenizer splits quoted text itself, and ignores what it does not consider a word.
        let found = beginnings(of: query.text)
        guard found.isEmpty == query.text.allSatisfy(\.isWhitespace) else { return nil }
        return all(facets + found, or: query)
    }

    /// Matches each term as a prefix of a word and, if long enough, as trigrams.
    private static func all(
        for terms: SearchTerms, _ facets: [String], _ query: SearchQuery
    ) -> [SearchExpression]? {
        if terms.isEmpty { return query.text.allSatisfy(\.isWhitespace) ? all(facets, or: query) : nil }
        let short = terms.terms.filter { $0.unicodeScalars.count < 3 }
        let quotedTrigrams = Set(terms.terms.flatMap(trigrams)).sorted()
        // No index covers terms of less than three characters within words, as in scripts without spaces.
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

    /// Returns the words as terms, the last one as a prefix.
    private static func beginnings(of text: String) -> [String] {
        let found = words(text)
        return found.enumerated().map { $0 == found.count - 1 ? "\"\($1)\"*" : "\"\($1)\"" }
    }

    private static func all(_ match: [String], or query: SearchQuery) -> [SearchExpression]? {
        if match.isEmpty {
            return query.hasNoFilter && query.rooms == nil && query.senders == nil ? nil : []
        }
        // The indexes do not contain messages without text, which may have attachments.
        let isMaybeBare = query.text.allSatisfy(\.isWhitespace) && !query.contents.subtracting([.link]).isEmpty
        return isMaybeBare ? [] : [SearchExpression(index: .words, match: match.joined(separator: " AND "))]
    }

    private static func facet(_ letter: String, _ keys: Set<Int64>?) -> [String] {
        guard let keys else { return [] }
        // More terms would make the query slower than verifying the results.
        if keys.count > 200 { return [] }
        return ["(\(keys.sorted().map { "\"\(facetPrefix)\(letter)\($0)\"" }.joined(separator: " OR ")))"]
    }

    /// Marks index terms that do not come from the text.
    private static let facetPrefix = "\u{E000}"

    /// Returns runs of letters, digits and private-use characters, like FTS5's `unicode61` tokenizer.
    static func words(_ text: String) -> [String] {
        text.unicodeScalars.prefix(maxLength).split { scalar in
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: false
            case .decimalNumber, .letterNumber, .otherNumber: false
            // Combining marks belong to the preceding letter.
            case .nonspacingMark, .spacingMark, .enclosingMark: false
            default: true
            }
        }.prefix(32).map { String(String.UnicodeScalarView($0)) }
    }

    /// Returns the distinct trigrams, quoted; empty for a shorter text.
    static func trigrams(_ text: String) -> [String] {
        let scalars = Array(text.unicodeScalars.prefix(maxLength))
        guard scalars.count >= 3 else { return [] }
        var seen: Set<String> = []
        return (0...scalars.count - 3).compactMap { start in
            let trigram = String(String.UnicodeScalarView(scalars[start..<start + 3]))
            return seen.insert(trigram).inserted ? "\"\(trigram.replacing("\"", with: "\"\""))\"" : nil
        }
    }

    /// The maximum length of a query, in scalars.
    private static let maxLength = 1000
}
