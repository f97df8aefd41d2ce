public import Composer
public import ComposerSessions

/// The user's preferences for all composers.
public nonisolated struct WritingPreferences: Equatable, Sendable {
    public var sendKey = SendKey.return
    /// Whether members are suggested for names typed without `@`, from ``suggestedLength`` letters on (HKW-38).
    public var suggestsMembers = false
    /// Whether shaking the pointer over the composer clears it (SLK-43).
    public var clearsByShaking = false

    /// The spelling languages of rooms without a choice of their own; `nil` if spelling is not checked.
    public var spelling: SpellingChoice?
    /// The number of words added to dictionaries. A change makes composers check their text again.
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
