/// Throttles typing notifications (MCV-12): sends one immediately, renews it every three seconds while typing
/// continues, and sends a stop after five idle seconds.
struct TypingNotifier: Sendable, Equatable {
    static let renewal = Duration.seconds(3)
    static let idle = Duration.seconds(5)

    private var reportedAt: Duration?
    private var lastEdit: Duration = .zero

    var isTyping: Bool { reportedAt != nil }
    var deadline: Duration? { reportedAt == nil ? nil : lastEdit + Self.idle }

    /// Handles user input.
    ///
    /// - Returns: the notification to send, or `nil`; `true` also renews.
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
