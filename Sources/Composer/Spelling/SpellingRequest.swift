/// Words to be looked up in dictionaries.
public struct SpellingRequest: Hashable, Sendable {
    /// Identifies the request in ``ComposerEvent/spellingChecked(request:misspelled:)``.
    public let id: Int
    /// Without duplicates.
    public let words: [String]

    public init(id: Int, words: [String]) {
        self.id = id
        self.words = words
    }
}
