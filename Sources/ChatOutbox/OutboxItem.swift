public import ChatCore

/// The user-visible state of a queued request.
public struct OutboxItem: Equatable, Sendable {
    public enum State: Equatable, Sendable {
        /// Queued behind another request, or offline.
        case waiting
        case sending
        /// Attempts have failed; the next one is scheduled.
        case retrying(attempts: Int)
        /// The server rejected it, and it waits for the user. A rejected message also blocks the requests queued after
        /// it in its room, except for changes of sent messages.
        case failed(reason: String)
        /// The server accepted it as this event, or as a change of this event. It stays until
        /// ``Outbox/confirm(_:in:)``.
        case accepted(MessageID)
    }

    public var request: OutboxRequest
    public var state: State
    /// Whether it has not succeeded after five minutes online. It is shown as unsent, but attempts continue.
    public var isOverdue: Bool
    /// The upload progress of its files, weighted by size, from 0 to 1; `nil` once all are uploaded. Until then, the
    /// server knows nothing of the message.
    public var upload: Double?
}
