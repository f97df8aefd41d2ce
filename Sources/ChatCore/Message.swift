public import Composer
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

    /// What a message is, as far as it is shown differently.
    public enum Kind: String, CaseIterable, Sendable, Codable {
        case text
        /// Something the sender does: "/me waves".
        case emote
        /// Said by a program, to be shown without attracting attention.
        case notice
        case image, file, audio, video
        /// Nothing that was said: see ``Message/event``.
        case event
    }

    public static let maxReadReceipts = 100

    public let id: MessageID
    public let roomID: RoomID
    public let sender: MemberID
    public var kind: Kind
    /// What it says in plain text. Empty once deleted.
    public var text: String
    /// The text as HTML, where the sender's program said so: not to be trusted before it was filtered.
    public var formattedText: String?
    /// The text as the user wrote it, of a message that was written here.
    public var written: WrittenText?
    /// See ``Wording/mentionsEveryone``.
    public var mentionsEveryone = false
    /// The files that belong to it, in their order. None once deleted.
    public var attachments: [MediaReference]
    /// In the order in which each was given first. None once deleted.
    public var reactions: [Reaction]
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
    /// The other members who have read as far as this message and no farther, the latest first: at most
    /// ``Message/maxReadReceipts``.
    public var readReceipts: [ReadReceipt] = []
    /// Of one that is on its way, how much of its files is uploaded, from 0 to 1; nil once all are, or without any. Until
    /// then it can be taken back without a trace.
    public var upload: Double?
    /// The latest of the user's changes that is on its way, with which the message is shown, or else the latest that was
    /// refused.
    public var pendingChange: PendingChange?
    /// What happened, of a message that stands for that. Its sender is who did it.
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
