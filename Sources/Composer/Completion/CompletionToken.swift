/// The text to complete, derived from document and caret.
struct CompletionToken: Equatable, Sendable {
    var rule: CompletionRule
    var kind: CompletionKind
    /// The range, including the prefix.
    var range: TextRange
    var query: String

    var start: Int { range.location }
    /// The number of blanks in the query.
    var blanks: Int { query.reduce(0) { $1.isBlank ? $0 + 1 : $0 } }
    var endsBlank: Bool { query.last?.isBlank ?? false }
}

extension CompletionRule {
    /// The rule of implicit queries, without a prefix.
    static let implicit = CompletionRule(prefix: "")
}

/// Text that resembles a token but isn't one.
enum TokenSafety {
    /// Whether a prefix is part of an email address or a URL.
    ///
    /// - Parameter word: the text before the prefix, back to white space.
    static func isInAddress(prefix: String, after word: Substring) -> Bool {
        if let last = word.last, let first = prefix.first, "@＠".contains(first), last.isWordCharacter || last == "_" {
            return true
        }
        guard word.utf8.count > 3 else { return false }
        let lower = word.lowercased()
        return lower.contains("://") || lower.contains("www.") || lower.contains("mailto:")
    }

    /// Whether prefix and query form a smiley or the start of one: `:)`, `:-P`, `:'(`, `;D`, `=/`.
    static func isSmiley(prefix: String, query: Substring) -> Bool {
        guard let eyes = prefix.last, ":;=".contains(eyes), let first = query.first else { return false }
        if first.isWordCharacter { return query.count == 1 && "DPOSX3".contains(first) }
        if first == "-" { return !(query.dropFirst().first?.isNumber ?? false) }
        return first.isASCII && first != "+" && first != "_"
    }
}
