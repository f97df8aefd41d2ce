/// Who is typing: the user, whose typing is announced to others, and the other users (MCV-12, SLK-40).
struct Presence: Sendable {
    private var notifier = TypingNotifier()
    private var users = TypingUsers()

    /// The other users who are typing, in the order in which they started.
    var names: [String] { users.names }

    var deadline: Duration? { [notifier.deadline, users.deadline].compactMap { $0 }.min() }

    /// Handles a change of the text.
    ///
    /// - Parameters:
    ///   - isBlank: whether the text is blank now.
    ///   - isUserWriting: whether the user wrote what changed.
    mutating func textChanged(isBlank: Bool, isUserWriting: Bool, _ transaction: inout EventTransaction) {
        if isBlank {
            stopTyping(&transaction)
        } else if isUserWriting, let isTyping = notifier.wrote(at: transaction.now) {
            Self.report(isTyping, &transaction)
        }
    }

    /// Call when the message was sent, or when another one is being written.
    mutating func stopTyping(_ transaction: inout EventTransaction) {
        if let isTyping = notifier.stop() { Self.report(isTyping, &transaction) }
    }

    /// Another user started or stopped typing.
    mutating func setTyping(
        _ name: String, _ isTyping: Bool, timeout: Duration, _ transaction: inout EventTransaction
    ) {
        let before = users.names
        if isTyping {
            users.started(name, at: transaction.now, timeout: timeout)
        } else {
            users.stopped(name)
        }
        if users.names != before { transaction.observe(.peerTypingChanged) }
    }

    mutating func fireTimers(_ transaction: inout EventTransaction) {
        if let isTyping = notifier.expire(at: transaction.now) { Self.report(isTyping, &transaction) }
        if let deadline = users.deadline, deadline <= transaction.now {
            users.expire(at: transaction.now)
            transaction.observe(.peerTypingChanged)
        }
    }

    private static func report(_ isTyping: Bool, _ transaction: inout EventTransaction) {
        transaction.emit(.typing(isTyping))
        transaction.observe(isTyping ? .typingStarted : .typingStopped)
    }
}
