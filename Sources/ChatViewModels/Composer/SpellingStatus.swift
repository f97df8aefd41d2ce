public import ChatCore
public import ComposerSessions

/// Which of the spelling languages have dictionaries.
public nonisolated struct SpellingStatus: Equatable, Sendable {
    /// The locale names of the dictionaries in use.
    public var dictionaries: [String] = []
    /// The languages without a dictionary.
    public var missing: [String] = []
    public var error: SpellingError?

    public init(dictionaries: [String] = [], missing: [String] = [], error: SpellingError? = nil) {
        self.dictionaries = dictionaries
        self.missing = missing
        self.error = error
    }

    /// A description for preferences.
    public func description(_ translator: Translator) -> String {
        if error != nil { return translator("Spell checking needs Enchant, which is not installed") }
        func names(_ tags: [String]) -> String { tags.map(LanguageNames.name).joined(separator: ", ") }
        let absent = translator("No dictionary is installed for {languages}", ["languages": names(missing)])
        guard !dictionaries.isEmpty else { return absent }
        let used = translator("Underline misspelled words in {languages}", ["languages": names(dictionaries)])
        return missing.isEmpty ? used : "\(used). \(absent)"
    }
}
