import ChatCore

/// An FTS5 expression for the trigrams of a search's terms.
///
/// The index folds case only, so each trigram stands for all spellings of its letters. What it finds is verified, so
/// trigrams may be left out: those with too many spellings if enough others remain.
enum TrigramMatch {
    /// The maximum number of spellings of all trigrams.
    static let maxSpellings = 256
    /// How many trigrams of letters are selective enough without the others.
    private static let sufficientCount = 3

    /// Returns the expression, or `nil` if the terms have no trigram.
    static func expression(for terms: [String]) -> String? {
        var seen: Set<[Unicode.Scalar]> = []
        let windows = terms.flatMap { Self.windows(of: $0) }.filter { seen.insert($0.written).inserted }
        let complete = windows.filter(\.isComplete)
        let isEnough = complete.count { $0.isInWord } >= sufficientCount
        var count = 0
        var conditions: [String] = []
        for window in (isEnough ? complete : windows).sorted(by: { $0.count < $1.count }) {
            count += window.count
            if count > maxSpellings, !conditions.isEmpty { break }
            conditions.append(window.condition)
        }
        return conditions.isEmpty ? nil : conditions.joined(separator: " AND ")
    }

    /// Returns each three consecutive letters, with the marks between them.
    private static func windows(of term: String) -> [Window] {
        let scalars = Array(term.unicodeScalars)
        let letters = scalars.indices.filter { !EquivalentScalars.isIgnored(scalars[$0]) }
        guard letters.count >= 3 else {
            // One or two letters with marks: within words, nothing else finds them.
            guard scalars.count >= 3, !scalars.contains("\0") else { return [] }
            return [Window(letters: [], written: scalars)]
        }
        return (0...letters.count - 3).map { start in
            Window(
                letters: letters[start..<start + 3].map { scalars[$0] },
                written: Array(scalars[letters[start]...letters[start + 2]]))
        }
    }

    /// Three letters of a term and what is between them.
    private struct Window {
        /// The maximum number of trigrams of a letter with marks that are searched for.
        private static let maxMarks = 16

        let written: [Unicode.Scalar]
        private let spellings: LetterSpellings?
        /// Whether all three letters belong to words: of punctuation, nearly every message has some.
        let isInWord: Bool

        init(letters: [Unicode.Scalar], written: [Unicode.Scalar]) {
            self.written = written
            spellings = letters.isEmpty ? nil : LetterSpellings(letters)
            isInWord = !letters.isEmpty && letters.allSatisfy(EquivalentScalars.isWord)
        }

        var isComplete: Bool { spellings?.isComplete == true }
        var count: Int { (spellings?.count ?? 0) + writtenTrigrams.count }

        /// The trigrams of the letters with their marks, if there are any between them.
        private var writtenTrigrams: [String] {
            // SQLite ends the expression at NUL.
            guard written.count > 3 || spellings == nil, !written.contains("\0") else { return [] }
            let text = String(String.UnicodeScalarView(written))
            return Array(SearchExpression.trigrams(text).prefix(Self.maxMarks))
        }

        var condition: String {
            var alternatives = spellings?.all.map(SearchExpression.quoted) ?? []
            if !writtenTrigrams.isEmpty { alternatives.append("(\(writtenTrigrams.joined(separator: " AND ")))") }
            return "(\(alternatives.joined(separator: " OR ")))"
        }
    }
}
