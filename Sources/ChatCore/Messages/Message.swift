public import Composer
public import Foundation

/// A message in a room's timeline. The members of its ``content`` are members of it too.
@dynamicMemberLookup
public struct Message: Identifiable, Equatable, Sendable {
    /// The delivery state of one of the user's own messages.
    public enum Delivery: String, Sendable, Codable {
        /// Handed over, not yet acknowledged by the backend.
        case sending
        /// Acknowledged: stored durably by the backend.
        case sent
        /// Sending was given up; the message waits to be retried or discarded.
        case failed
    }

    /// The kind of a message, which determines how it is presented.
    public enum Kind: String, CaseIterable, Sendable, Codable {
        case text
        /// An action of the sender, such as "/me waves" (`m.emote`).
        case emote
        /// An automated message, shown without attracting attention (`m.notice`).
        case notice
        case image, file, audio, video
        /// A state change instead of a message: see ``Message/Content/event``.
        case event
        /// A message that cannot be read: see ``Message/Content/seal``.
        case sealed
    }

    public static let maxReadReceipts = 100

    public let id: MessageID
    public let roomID: RoomID
    public let sender: MemberID
    public var content: Content
    /// In the order of their first use. Empty once deleted.
    public var reactions: [Reaction]
    public let sentAt: Date
    /// The position in the room's timeline: unique in the room, larger is newer.
    public let position: Int64
    /// The transaction that the message was sent with; `nil` for messages from others.
    public var transactionID: TransactionID?
    /// The message that this one replies to.
    public var replyTo: MessageID?
    public var editedAt: Date?
    public var isDeleted: Bool
    public var delivery: Delivery
    /// The read receipts of other members at this message, latest first: at most ``Message/maxReadReceipts``.
    public var readReceipts: [ReadReceipt] = []
    /// The upload progress of a pending message's attachments, from 0 to 1; `nil` without attachments or once all are
    /// uploaded. Until then, discarding it leaves nothing behind.
    public var upload: Double?
    /// The user's latest pending change, with which the message is shown, or else the latest failed one.
    public var pendingChange: PendingChange?
    /// A warning about its encryption, or `nil`.
    public var trust: MessageTrust?
    /// Why its latest edit cannot be read; `nil` if there is none, or it is shown.
    public var unreadableEdit: SealReason?
    /// Why it was not sent; `nil` unless its ``delivery`` failed, or if that is all that is known.
    public var failure: SendFailure?

    public init(
        id: MessageID, roomID: RoomID, sender: MemberID, content: Content, sentAt: Date, position: Int64,
        transactionID: TransactionID? = nil, replyTo: MessageID? = nil, editedAt: Date? = nil,
        isDeleted: Bool = false, delivery: Delivery = .sent, reactions: [Reaction] = []
    ) {
        self.id = id
        self.roomID = roomID
        self.sender = sender
        self.content = content
        self.reactions = reactions
        self.sentAt = sentAt
        self.position = position
        self.transactionID = transactionID
        self.replyTo = replyTo
        self.editedAt = editedAt
        self.isDeleted = isDeleted
        self.delivery = delivery
    }

    /// Creates a message with this text.
    public init(
        id: MessageID, roomID: RoomID, sender: MemberID, text: String, sentAt: Date, position: Int64,
        transactionID: TransactionID? = nil, replyTo: MessageID? = nil, editedAt: Date? = nil,
        isDeleted: Bool = false, delivery: Delivery = .sent, kind: Kind = .text, formattedText: String? = nil,
        written: WrittenText? = nil, attachments: [MediaReference] = [], reactions: [Reaction] = [],
        event: RoomEvent? = nil
    ) {
        self.init(
            id: id, roomID: roomID, sender: sender,
            content: Content(
                text, kind: kind, formattedText: formattedText, written: written, attachments: attachments),
            sentAt: sentAt, position: position, transactionID: transactionID, replyTo: replyTo, editedAt: editedAt,
            isDeleted: isDeleted, delivery: delivery, reactions: reactions)
        self.event = event
    }

    /// Whether it has content, unlike a deleted or unreadable message.
    public var hasContent: Bool { !isDeleted && content.kind != .sealed }

    /// Inlinable, so that the optimizer reads the member without its key path.
    @inlinable
    public subscript<Value>(dynamicMember member: WritableKeyPath<Content, Value>) -> Value {
        get { content[keyPath: member] }
        set { content[keyPath: member] = newValue }
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
