public import Composer
public import Foundation

/// A pending request to a server: a message, or a change of one.
public struct OutboxRequest: Equatable, Sendable {
    /// Assigned once and reused in each attempt, so that the server executes the request once. Unique in its room.
    public let id: TransactionID
    public let room: RoomID
    public var action: OutboxAction
    public let queuedAt: Date
    /// The technical reason why the server rejected it, or `nil` while it may still succeed.
    public var failure: String?
    /// Whether an attempt to send it may have been made. Stored before the first one begins; `false` is certain.
    public var wasAttempted = true
    /// Whether the request was stored by an earlier version, which represented mentions as `@` followed by a name. Not
    /// stored: such names are converted to marks before the request is stored again.
    public var namesAreMentions = false

    public init(id: TransactionID, room: RoomID, action: OutboxAction, queuedAt: Date, failure: String? = nil) {
        self.id = id
        self.room = room
        self.action = action
        self.queuedAt = queuedAt
        self.failure = failure
    }
}

/// The operation of a request.
public enum OutboxAction: Equatable, Sendable, Codable {
    case send(WrittenMessage)
    case edit(OutboxTarget, WrittenText)
    case delete(OutboxTarget)
    case react(OutboxTarget, text: String, isGiven: Bool)
    /// Written by an unknown version; retained until the user discards it.
    case unreadable

    /// The technical reason why ``unreadable`` is never sent.
    public static let unreadableReason = "it cannot be read"

    /// The message to change, or `nil` for a new one.
    public var target: OutboxTarget? {
        get {
            switch self {
            case .send, .unreadable: nil
            case .edit(let target, _), .delete(let target), .react(let target, _, _): target
            }
        }
        set {
            guard let newValue else { return }
            switch self {
            case .send, .unreadable: break
            case .edit(_, let text): self = .edit(newValue, text)
            case .delete: self = .delete(newValue)
            case .react(_, let text, let isGiven): self = .react(newValue, text: text, isGiven: isGiven)
            }
        }
    }
}

/// The message that a request changes.
public enum OutboxTarget: Hashable, Sendable, Codable {
    case message(MessageID)
    /// A message that is itself pending, by its transaction. Replaced by its event ID once that is known.
    case queued(TransactionID)
}
