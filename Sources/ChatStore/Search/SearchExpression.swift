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
        let text = String(String.UnicodeScalarView(query.text.unicodeScalars.prefix(maxLength)))
        let found = IndexedWord.all(in: text).map(\.condition)
        guard found.isEmpty == query.text.allSatisfy(\.isWhitespace) else { return nil }
        return all(facets + found, or: query)
    }

    /// Matches each term as a prefix of a word and, if long enough, as trigrams.
    private static func all(
        for terms: SearchTerms, _ facets: [String], _ query: SearchQuery
    ) -> [SearchExpression]? {
        if terms.isEmpty { return query.text.allSatisfy(\.isWhitespace) ? all(facets, or: query) : nil }
        let trigrams = TrigramMatch.expression(for: terms.terms)
        // No index covers terms of less than three characters within words, as in scripts without spaces.
        if trigrams == nil, terms.terms.contains(where: { !SearchTerms.isFoundAtWordStart($0) }) { return [] }
        // With trigrams of letters, the words need not stand for other spellings.
        let words =
            terms.terms.contains(where: TrigramMatch.hasLetters)
            ? terms.terms.flatMap { IndexedWord.all(in: $0) }.map(\.condition)
            : terms.terms.compactMap(IndexedWord.conditionOfEquivalents)
        var expressions: [SearchExpression] = []
        if !words.isEmpty {
            expressions.append(SearchExpression(index: .words, match: (facets + words).joined(separator: " AND ")))
        }
        if let trigrams { expressions.append(SearchExpression(index: .trigrams, match: trigrams)) }
        return expressions
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

    /// Returns the distinct trigrams, quoted; empty for a shorter text.
    static func trigrams(_ text: String) -> [String] {
        let scalars = Array(text.unicodeScalars.prefix(maxLength))
        guard scalars.count >= 3 else { return [] }
        var seen: Set<[Unicode.Scalar]> = []
        return (0...scalars.count - 3).compactMap { start in
            let trigram = Array(scalars[start..<start + 3])
            // SQLite ends the expression at NUL.
            guard !trigram.contains("\0"), seen.insert(trigram).inserted else { return nil }
            return quoted(String(String.UnicodeScalarView(trigram)))
        }
    }

    /// Returns a term of an FTS5 expression.
    static func quoted(_ text: String) -> String {
        // By scalars: a mark after a quotation mark belongs to its character.
        let escaped = text.unicodeScalars.flatMap { $0 == "\"" ? [$0, $0] : [$0] }
        return "\"" + String(String.UnicodeScalarView(escaped)) + "\""
    }

    /// The maximum length of a query, in scalars.
    private static let maxLength = 1000
}
