public import Foundation

/// A message in a room's timeline.
public struct Message: Identifiable, Equatable, Sendable {
    /// How far a message of one's own has come.
    public enum Delivery: String, Sendable, Codable {
        /// Handed over, not yet acknowledged by the backend.
        case sending
        /// Acknowledged: stored durably by the backend.
        case sent
        /// Given up; it waits for retry or discard.
        case failed
    }

    public let id: MessageID
    public let roomID: RoomID
    public let sender: MemberID
    /// The text as it was typed, with its Markdown. Empty once deleted.
    public var text: String
    public let sentAt: Date
    /// The place in the room's timeline: larger is newer, unique in the room.
    public let position: Int64
    /// The transaction the message was sent with; nil for messages of others.
    public var transactionID: TransactionID?
    /// The message this one answers.
    public var replyTo: MessageID?
    public var editedAt: Date?
    public var isDeleted: Bool
    public var delivery: Delivery

    public init(
        id: MessageID, roomID: RoomID, sender: MemberID, text: String, sentAt: Date, position: Int64,
        transactionID: TransactionID? = nil, replyTo: MessageID? = nil, editedAt: Date? = nil,
        isDeleted: Bool = false, delivery: Delivery = .sent
    ) {
        self.id = id
        self.roomID = roomID
        self.sender = sender
        self.text = text
        self.sentAt = sentAt
        self.position = position
        self.transactionID = transactionID
        self.replyTo = replyTo
        self.editedAt = editedAt
        self.isDeleted = isDeleted
        self.delivery = delivery
    }
}

/// A message on its way from the composer to a backend.
public struct OutgoingMessage: Equatable, Sendable {
    /// Fixed once: sending the same transaction again stores nothing twice.
    public let transactionID: TransactionID
    public var text: String
    public var replyTo: MessageID?

    public init(transactionID: TransactionID, text: String, replyTo: MessageID? = nil) {
        self.transactionID = transactionID
        self.text = text
        self.replyTo = replyTo
    }
}

/// What is unsent in a room's composer.
public struct SavedDraft: Equatable, Sendable {
    /// The composer's own serialised form: opaque to stores.
    public var data: Data
    /// The plain text for the room list, at most 200 characters; empty when the draft holds no text.
    public var preview: String

    public init(data: Data, preview: String) {
        self.data = data
        self.preview = preview
    }
}
