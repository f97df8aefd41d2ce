public import Composer
public import ComposerSessions

/// The user's preferences for all composers.
public nonisolated struct WritingPreferences: Equatable, Sendable {
    public var sendKey = SendKey.return
    /// Whether members are suggested for names typed without `@`, from ``suggestedLength`` letters on (HKW-38).
    public var suggestsMembers = false
    /// Whether shaking the pointer over the composer clears it (SLK-43).
    public var clearsByShaking = false

    /// The languages in which spelling is checked where a room has none of its own; `nil` if none is checked.
    public var spelling: SpellingChoice?
    /// How often a word was added to a dictionary: composers check anew.
    public var addedWords = 0

    /// The threshold that Hakawai uses, which is also the length of short names.
    public static let suggestedLength = 3

    public init(
        sendKey: SendKey = .return, suggestsMembers: Bool = false, clearsByShaking: Bool = false,
        spelling: SpellingChoice? = nil
    ) {
        self.sendKey = sendKey
        self.suggestsMembers = suggestsMembers
        self.clearsByShaking = clearsByShaking
        self.spelling = spelling
    }
}
