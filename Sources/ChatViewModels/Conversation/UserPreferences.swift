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
    /// Stores a choice that the user made outside the preferences.
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

    /// Call this when the user has answered the question about unencrypted reactions.
    func chooseReactions(_ areUsed: Bool) {
        let chosen = ReactionPreferences(areUsedInEncryptedRooms: areUsed, isExplained: true)
        guard chosen != reactions else { return }
        reactions = chosen
        onReactionsChosen(chosen)
    }
}
