import ChatCore

/// Whether the arrival of a message is shown on the desktop, and how much of it.
nonisolated struct NotificationPolicy: Equatable, Sendable {
    /// What is known when the message arrives.
    struct Situation: Equatable, Sendable {
        var preferences = NotificationPreferences()
        /// Whether the screen is locked, as far as the desktop tells.
        var isLocked = false
        /// Whether the user sees the room in the active window.
        var isAttended = false
        /// What push rules say; `none` for ignored users as well.
        var level = NotificationLevel.unread
        /// Whether push rules ask for no sound.
        var isSilent = false
        /// Whether the message arrived while the account caught up with its server.
        var isMissed = false
    }

    enum Decision: Equatable, Sendable {
        case silence
        case notification(NotificationPreferences.Content, isImportant: Bool, playsSound: Bool)
        /// Counted in one notification for all that arrives while catching up.
        case summary(playsSound: Bool)
    }

    static func decision(in situation: Situation) -> Decision {
        let preferences = situation.preferences
        if preferences.isPaused || situation.isAttended { return .silence }
        if situation.level == .none { return .silence }
        let playsSound = preferences.playsSound && !situation.isSilent
        if situation.isMissed { return .summary(playsSound: playsSound) }
        return .notification(
            content(in: situation), isImportant: situation.level == .mention, playsSound: playsSound)
    }

    /// What may be shown: less while the screen is locked.
    static func content(in situation: Situation) -> NotificationPreferences.Content {
        situation.isLocked ? min(.sender, situation.preferences.content) : situation.preferences.content
    }
}
