/// When others are told that the user is typing (MCV-12): at once, again every three seconds while it goes on,
/// and that it stopped after five idle ones.
struct TypingNotifier: Sendable, Equatable {
    static let renewal = Duration.seconds(3)
    static let idle = Duration.seconds(5)

    private var reportedAt: Duration?
    private var lastEdit: Duration = .zero

    var isTyping: Bool { reportedAt != nil }
    var deadline: Duration? { reportedAt == nil ? nil : lastEdit + Self.idle }

    /// The user wrote something.
    ///
    /// - Returns: what to tell, if anything: true also renews.
    mutating func wrote(at now: Duration) -> Bool? {
        lastEdit = now
        if let reportedAt, now - reportedAt < Self.renewal { return nil }
        reportedAt = now
        return true
    }

    mutating func stop() -> Bool? {
        guard isTyping else { return nil }
        reportedAt = nil
        return false
    }

    mutating func expire(at now: Duration) -> Bool? {
        guard let deadline, deadline <= now else { return nil }
        return stop()
    }
}
