public import Composer
public import Foundation

/// A message in a room's timeline.
public struct Message: Identifiable, Equatable, Sendable {
    /// The delivery state of an own message.
    public enum Delivery: String, Sendable, Codable {
        /// Handed over, not yet acknowledged by the backend.
        case sending
        /// Acknowledged: stored durably by the backend.
        case sent
        /// Given up; it waits for retry or discard.
        case failed
    }

    /// The kind of a message, as far as it affects presentation.
    public enum Kind: String, CaseIterable, Sendable, Codable {
        case text
        /// An action of the sender, such as "/me waves" (`m.emote`).
        case emote
        /// An automated message, shown without attracting attention (`m.notice`).
        case notice
        case image, file, audio, video
        /// A state change instead of a message: see ``Message/event``.
        case event
    }

    public static let maxReadReceipts = 100

    public let id: MessageID
    public let roomID: RoomID
    public let sender: MemberID
    public var kind: Kind
    /// The plain text. Empty once deleted.
    public var text: String
    /// The HTML of the sender's client. Untrusted until sanitized.
    public var formattedText: String?
    /// The source text, of a message written in this application.
    public var written: WrittenText?
    /// See ``Wording/mentionsEveryone``.
    public var mentionsEveryone = false
    /// The attachments in order. Empty once deleted.
    public var attachments: [MediaReference]
    /// In the order of their first use. Empty once deleted.
    public var reactions: [Reaction]
    public let sentAt: Date
    /// The position in the room's timeline: unique in the room, larger is newer.
    public let position: Int64
    /// The transaction that the message was sent with; `nil` for messages of others.
    public var transactionID: TransactionID?
    /// The message that this one replies to.
    public var replyTo: MessageID?
    public var editedAt: Date?
    public var isDeleted: Bool
    public var delivery: Delivery
    /// The read receipts of other members at this message, latest first: at most ``Message/maxReadReceipts``.
    public var readReceipts: [ReadReceipt] = []
    /// The upload progress of a pending message's attachments, from 0 to 1; `nil` without attachments or once all are
    /// uploaded. Until then it can be discarded without a trace.
    public var upload: Double?
    /// The latest pending change of the user, which the message is shown with, or else the latest failed one.
    public var pendingChange: PendingChange?
    /// The state change that this message stands for. Its sender caused the change.
    public var event: RoomEvent?

    public init(
        id: MessageID, roomID: RoomID, sender: MemberID, text: String, sentAt: Date, position: Int64,
        transactionID: TransactionID? = nil, replyTo: MessageID? = nil, editedAt: Date? = nil,
        isDeleted: Bool = false, delivery: Delivery = .sent, kind: Kind = .text, formattedText: String? = nil,
        written: WrittenText? = nil, attachments: [MediaReference] = [], reactions: [Reaction] = [],
        event: RoomEvent? = nil
    ) {
        self.id = id
        self.roomID = roomID
        self.sender = sender
        self.kind = kind
        self.text = text
        self.formattedText = formattedText
        self.written = written
        self.attachments = attachments
        self.reactions = reactions
        self.sentAt = sentAt
        self.position = position
        self.transactionID = transactionID
        self.replyTo = replyTo
        self.editedAt = editedAt
        self.isDeleted = isDeleted
        self.delivery = delivery
        self.event = event
    }
}

/// The content of a room's composer.
public struct SavedDraft: Equatable, Sendable {
    /// The composer's serialized state: opaque to stores.
    public var data: Data
    /// Plain text for the room list, at most 200 characters; empty for a draft without text.
    public var preview: String

    public init(data: Data, preview: String) {
        self.data = data
        self.preview = preview
    }
}
