public import Composer

/// What the user chose about writing, for all composers.
public nonisolated struct WritingPreferences: Equatable, Sendable {
    public var sendKey = SendKey.return
    /// Whether people are offered for a name that is written without `@`, once it has ``suggestedLength`` letters (HKW-38).
    public var suggestsMembers = false

    /// Hakawai's, and as long as the shortest names.
    public static let suggestedLength = 3

    public init(sendKey: SendKey = .return, suggestsMembers: Bool = false) {
        self.sendKey = sendKey
        self.suggestsMembers = suggestsMembers
    }
}
