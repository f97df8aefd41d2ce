public import ChatCore
public import Observation

/// The preferences that apply to all accounts. The application changes them; conversations observe them.
@Observable
@MainActor
public final class UserPreferences {
    public var writing: WritingPreferences
    public var notifications: NotificationPreferences
    public var media: MediaPreferences

    public init(
        writing: WritingPreferences = WritingPreferences(),
        notifications: NotificationPreferences = NotificationPreferences(),
        media: MediaPreferences = MediaPreferences()
    ) {
        self.media = media
        self.writing = writing
        self.notifications = notifications
    }
}
