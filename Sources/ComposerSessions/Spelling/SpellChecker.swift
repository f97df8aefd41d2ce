/// Looks up words in dictionaries. A dictionary is identified by its language's locale name, such as `de_DE` or `ar`.
public nonisolated protocol SpellChecker: Sendable {
    /// Returns the languages with a dictionary, sorted.
    func languages() async throws(SpellingError) -> [String]
    /// Returns the words that are misspelled in all of these languages.
    func misspelled(_ words: [String], in languages: [String]) async throws(SpellingError) -> Set<String>
    /// Returns corrections, most likely first.
    func suggestions(for word: String, in languages: [String]) async throws(SpellingError) -> [String]
    /// Adds a word to the user's personal dictionary of a language, which all programs share.
    func add(_ word: String, to language: String) async throws(SpellingError)
}

/// The reason why words can't be checked.
public nonisolated enum SpellingError: Error, Hashable, Sendable {
    /// The library that reads dictionaries is not installed.
    case notInstalled
    /// The dictionary of this language can't be read.
    case unreadable(String)
    /// The user's personal dictionary of this language can't be written.
    case unwritable(String)
}
