/// Judges words by dictionaries. A dictionary is named by its language's locale, such as `de_DE` or `ar`.
public nonisolated protocol SpellChecker: Sendable {
    /// The languages that have a dictionary, sorted.
    func languages() async throws(SpellingError) -> [String]
    /// Returns the words that are right in none of these languages.
    func misspelled(_ words: [String], in languages: [String]) async throws(SpellingError) -> Set<String>
    /// Returns what may have been meant, the likeliest first.
    func suggestions(for word: String, in languages: [String]) async throws(SpellingError) -> [String]
    /// Adds a word to the user's own words of a language, for all programs.
    func add(_ word: String, to language: String) async throws(SpellingError)
}

/// The reason why words can't be checked.
public nonisolated enum SpellingError: Error, Hashable, Sendable {
    /// The library that reads dictionaries is not installed.
    case notInstalled
    /// The dictionary of this language can't be read.
    case unreadable(String)
    /// The user's own words of this language can't be stored.
    case unwritable(String)
}
