import ChatCore

/// Decides whether a message notifies, and how much of it is shown.
nonisolated struct NotificationPolicy: Equatable, Sendable {
    /// The circumstances of a message's arrival.
    struct Situation: Equatable, Sendable {
        var preferences = NotificationPreferences()
        /// Whether the screen is locked, as far as the desktop reports it.
        var isLocked = false
        /// Whether the room is visible in the active window.
        var isAttended = false
        /// The level according to the push rules; `none` for ignored users as well.
        var level = NotificationLevel.unread
        /// Whether the push rules suppress the sound.
        var isSilent = false
        /// Whether the message arrived while the account caught up with its server.
        var isMissed = false
    }

    enum Decision: Equatable, Sendable {
        case silence
        case notification(NotificationPreferences.Content, isImportant: Bool, playsSound: Bool)
        /// Counted in a single notification of what arrived while catching up.
        case summary(playsSound: Bool)
    }

    static func decision(in situation: Situation) -> Decision {
        let preferences = situation.preferences
        if preferences.isPaused { return .silence }
        // A window stays active behind a locked screen, where nobody sees it.
        if situation.isAttended, !situation.isLocked { return .silence }
        if situation.level == .none { return .silence }
        let playsSound = preferences.playsSound && !situation.isSilent
        if situation.isMissed { return .summary(playsSound: playsSound) }
        return .notification(
            content(in: situation), isImportant: situation.level == .mention, playsSound: playsSound)
    }

    /// How much may be shown: less while the screen is locked.
    static func content(in situation: Situation) -> NotificationPreferences.Content {
        situation.isLocked ? min(.sender, situation.preferences.content) : situation.preferences.content
    }
}
