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
        let windows = Self.windows(of: terms).filter { seen.insert($0.written).inserted }
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

    /// Whether a term has three letters, so that trigrams find it however its marks are written.
    static func hasLetters(_ term: String) -> Bool {
        term.unicodeScalars.count { !EquivalentScalars.isIgnored($0) } >= 3
    }

    private static func windows(of terms: [String]) -> [Window] {
        let windows = terms.flatMap { Self.windows(of: $0) }
        guard windows.isEmpty else { return windows }
        // The word index finds the terms at the beginnings of words, with any marks.
        let inner = terms.filter { !SearchTerms.isFoundAtWordStart($0) }
        return (inner.isEmpty ? terms : inner).compactMap { Self.writtenWindow(of: $0) }
    }

    /// Returns each three consecutive letters, with the marks between them.
    private static func windows(of term: String) -> [Window] {
        let scalars = Array(term.unicodeScalars)
        let letters = scalars.indices.filter { !EquivalentScalars.isIgnored(scalars[$0]) }
        guard letters.count >= 3 else { return [] }
        return (0...letters.count - 3).map { start in
            Window(
                letters: letters[start..<start + 3].map { scalars[$0] },
                written: Array(scalars[letters[start]...letters[start + 2]]))
        }
    }

    /// Returns a term of one or two letters with marks, as it is written: within words, nothing else finds it.
    private static func writtenWindow(of term: String) -> Window? {
        let scalars = Array(term.unicodeScalars)
        guard scalars.count >= 3, !scalars.contains("\0") else { return nil }
        return Window(letters: [], written: scalars)
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
