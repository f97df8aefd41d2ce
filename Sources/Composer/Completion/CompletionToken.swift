/// A piece of the text that completion is about, as document and caret give it.
struct CompletionToken: Equatable, Sendable {
    var rule: CompletionRule
    var kind: CompletionKind
    /// Prefix included.
    var range: TextRange
    var query: String

    var start: Int { range.location }
    /// How many blanks the query holds.
    var blanks: Int { query.reduce(0) { $1.isBlank ? $0 + 1 : $0 } }
    var endsBlank: Bool { query.last?.isBlank ?? false }
}

extension CompletionRule {
    /// What an implicit query goes by: no prefix at all.
    static let implicit = CompletionRule(prefix: "")
}

/// Things that look like a token and are none.
enum TokenSafety {
    /// Whether a prefix stands inside an e-mail address or a URL.
    ///
    /// - Parameter word: what stands before the prefix, back to white space.
    static func isInAddress(prefix: String, after word: Substring) -> Bool {
        if let last = word.last, let first = prefix.first, "@＠".contains(first), last.isWordCharacter || last == "_" {
            return true
        }
        guard word.utf8.count > 3 else { return false }
        let lower = word.lowercased()
        return lower.contains("://") || lower.contains("www.") || lower.contains("mailto:")
    }

    /// Whether prefix and query are a smiley, or begin one: `:)`, `:-P`, `:'(`, `;D`, `=/`.
    static func isSmiley(prefix: String, query: Substring) -> Bool {
        guard let eyes = prefix.last, ":;=".contains(eyes), let first = query.first else { return false }
        if first.isWordCharacter { return query.count == 1 && "DPOSX3".contains(first) }
        if first == "-" { return !(query.dropFirst().first?.isNumber ?? false) }
        return first.isASCII && first != "+" && first != "_"
    }
}
