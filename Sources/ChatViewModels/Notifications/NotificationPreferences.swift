/// The user's preferences for notifications on this computer.
public nonisolated struct NotificationPreferences: Equatable, Sendable {
    /// How much of a message a notification shows.
    public nonisolated enum Content: Int, Comparable, Sendable {
        case nothing, sender, senderAndText

        public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    }

    public var isPaused: Bool
    public var content: Content
    public var playsSound: Bool

    public init(isPaused: Bool = false, content: Content = .senderAndText, playsSound: Bool = false) {
        self.isPaused = isPaused
        self.content = content
        self.playsSound = playsSound
    }
}
