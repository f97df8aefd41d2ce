public import ChatCore

/// A request as a user sees it.
public struct OutboxItem: Equatable, Sendable {
    public enum State: Equatable, Sendable {
        /// Its turn has not come, or there is no network.
        case waiting
        case sending
        /// Attempts failed, the next one comes by itself.
        case retrying(attempts: Int)
        /// The server refused it. It waits for the user; if it is a message, so does what was queued after it in its room.
        case failed(reason: String)
    }

    public var request: OutboxRequest
    public var state: State
    /// Whether it could not be sent within five minutes of being online: to be shown as unsent. Attempts go on.
    public var isOverdue: Bool
    /// How much of its files is uploaded, by their sizes, from 0 to 1; nil once all are. Until then the server has seen
    /// nothing of the message.
    public var upload: Double?
}
