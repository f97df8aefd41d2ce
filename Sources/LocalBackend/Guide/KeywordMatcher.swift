/// Searches the user's texts for keywords.
struct KeywordMatcher {
    private let words: [String]
    /// All words, with a space before, between and after them, for matching phrases.
    private let phrase: String
    let isQuestion: Bool

    init(_ texts: [String]) {
        words = texts.flatMap { Self.words(in: $0.prefix(4000)) }
        phrase = " " + words.joined(separator: " ") + " "
        isQuestion = texts.contains { text in
            text.last { !$0.isWhitespace }.map { "?？؟".contains($0) } ?? false
        }
    }

    /// Whether the texts contain any word or phrase of a comma-separated list.
    func contains(_ list: String) -> Bool {
        list.split(separator: ",").contains { entry in
            let keywords = Self.words(in: entry)
            guard keywords.count == 1, let word = keywords.first else {
                return !keywords.isEmpty && phrase.contains(" " + keywords.joined(separator: " ") + " ")
            }
            return words.contains { $0 == word || word.count >= 4 && $0.hasPrefix(word) }
        }
    }

    private static func words(in text: Substring) -> [String] {
        text.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
    }
}
