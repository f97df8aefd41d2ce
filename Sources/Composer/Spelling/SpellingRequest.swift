/// Words whose spelling the composer does not know, for a dictionary to judge.
public struct SpellingRequest: Hashable, Sendable {
    /// Identifies the request in ``ComposerEvent/spellingChecked(request:misspelled:)``.
    public let id: Int
    /// Each once.
    public let words: [String]

    public init(id: Int, words: [String]) {
        self.id = id
        self.words = words
    }
}
