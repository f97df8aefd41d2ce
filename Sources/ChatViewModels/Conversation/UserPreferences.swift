public import ChatCore
public import Observation

/// The preferences that apply to all accounts. The application changes them; conversations observe them.
@Observable
@MainActor
public final class UserPreferences {
    public var writing: WritingPreferences
    public var notifications: NotificationPreferences
    public var media: MediaPreferences
    public var reactions: ReactionPreferences
    /// Stores what the user has chosen where it matters, and not in the preferences.
    @ObservationIgnored public var onReactionsChosen: (ReactionPreferences) -> Void = { _ in }

    public init(
        writing: WritingPreferences = WritingPreferences(),
        notifications: NotificationPreferences = NotificationPreferences(),
        media: MediaPreferences = MediaPreferences(), reactions: ReactionPreferences = ReactionPreferences()
    ) {
        self.reactions = reactions
        self.media = media
        self.writing = writing
        self.notifications = notifications
    }

    /// The user was told that reactions are not encrypted, and chose.
    func chooseReactions(_ areUsed: Bool) {
        let chosen = ReactionPreferences(areUsedInEncryptedRooms: areUsed, isExplained: true)
        guard chosen != reactions else { return }
        reactions = chosen
        onReactionsChosen(chosen)
    }
}
