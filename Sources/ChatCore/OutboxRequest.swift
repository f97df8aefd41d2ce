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
    case send(OutboxMessage)
    case edit(OutboxTarget, text: String, formattedText: String?)
    case delete(OutboxTarget)
    case react(OutboxTarget, text: String, isGiven: Bool)

    /// The message that is to be changed; nil for a new one.
    public var target: OutboxTarget? {
        get {
            switch self {
            case .send: nil
            case .edit(let target, _, _), .delete(let target), .react(let target, _, _): target
            }
        }
        set {
            guard let newValue else { return }
            switch self {
            case .send: break
            case .edit(_, let text, let formattedText):
                self = .edit(newValue, text: text, formattedText: formattedText)
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

/// A message on its way.
public struct OutboxMessage: Equatable, Sendable, Codable {
    public var kind: Message.Kind
    public var text: String
    public var formattedText: String?
    public var replyTo: MessageID?
    public var attachments: [OutboxAttachment]

    public init(
        kind: Message.Kind = .text, text: String, formattedText: String? = nil, replyTo: MessageID? = nil,
        attachments: [OutboxAttachment] = []
    ) {
        self.kind = kind
        self.text = text
        self.formattedText = formattedText
        self.replyTo = replyTo
        self.attachments = attachments
    }
}

/// A file that goes with a message. It is uploaded before the message is sent.
public struct OutboxAttachment: Equatable, Sendable, Codable {
    /// The file's path on this computer.
    public var path: String
    /// Its ``MediaReference/uri`` is empty until the file was uploaded.
    public var reference: MediaReference

    public init(path: String, reference: MediaReference) {
        self.path = path
        self.reference = reference
    }

    public var isUploaded: Bool { !reference.uri.isEmpty }
}
