public import ChatCore

/// A request as a user sees it.
public struct OutboxItem: Equatable, Sendable {
    public enum State: Equatable, Sendable {
        /// Its turn has not come, or there is no network.
        case waiting
        case sending
        /// Attempts failed, the next one comes by itself.
        case retrying(attempts: Int)
        /// The server refused it: it, and what was queued after it in its room, waits for the user.
        case failed(reason: String)
    }

    public var request: OutboxRequest
    public var state: State
    /// Whether it could not be sent within five minutes of being online: to be shown as unsent. Attempts go on.
    public var isUnsent: Bool
}
