public import Composer
public import Foundation

/// Something that is on its way to a server: a message, or a change of one.
public struct OutboxRequest: Equatable, Sendable {
    /// Fixed when it was queued and the same in each attempt, so that the server carries it out once. Unique in its
    /// room.
    public let id: TransactionID
    public let room: RoomID
    public var action: OutboxAction
    public let queuedAt: Date
    /// Why the server refused it, in technical terms; nil while it may still succeed.
    public var failure: String?
    /// Whether an earlier version wrote it, in whose texts a member's name after an `@` is a mention. Not kept: whoever
    /// writes it anew makes marks of them before.
    public var namesAreMentions = false

    public init(id: TransactionID, room: RoomID, action: OutboxAction, queuedAt: Date, failure: String? = nil) {
        self.id = id
        self.room = room
        self.action = action
        self.queuedAt = queuedAt
        self.failure = failure
    }
}

/// What a request asks of the server.
public enum OutboxAction: Equatable, Sendable, Codable {
    case send(WrittenMessage)
    case edit(OutboxTarget, WrittenText)
    case delete(OutboxTarget)
    case react(OutboxTarget, text: String, isGiven: Bool)
    /// What this version can't read: it is kept as it is until the user gives it up.
    case unreadable

    /// Why ``unreadable`` is never carried out, in technical terms.
    public static let unreadableReason = "it cannot be read"

    /// The message that is to be changed; nil for a new one.
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
    /// One that is itself on its way, by its transaction. It becomes the message's identifier once that is known.
    case queued(TransactionID)
}
