public import ChatCore
public import Composer
public import Foundation

/// A message to be stored, which the store assigns a position. The members of its ``content`` are members of it too.
@dynamicMemberLookup
public struct NewMessage: Equatable, Sendable {
    /// Unique in its room.
    public var id: MessageID
    public var sender: MemberID
    /// Its text has at most ``ChatLimits/messageBytes`` of UTF-8; the store does not check.
    public var content: Message.Content
    /// Stored with millisecond precision.
    public var sentAt: Date
    public var transactionID: TransactionID?
    public var replyTo: MessageID?
    public var delivery: Message.Delivery
    /// Ignored for the user's own messages.
    public var notificationLevel = NotificationLevel.unread
    /// Whether the sender encrypted it.
    public var isEncrypted = false
    /// A warning about its encryption, or `nil`.
    public var trust: MessageTrust?
    /// The encrypted event of a message that could not be read.
    public var ciphertext: Ciphertext?

    public init(
        id: MessageID, sender: MemberID, content: Message.Content, sentAt: Date, transactionID: TransactionID? = nil,
        replyTo: MessageID? = nil, delivery: Message.Delivery = .sent
    ) {
        self.id = id
        self.sender = sender
        self.content = content
        self.sentAt = sentAt
        self.transactionID = transactionID
        self.replyTo = replyTo
        self.delivery = delivery
    }

    /// Creates a message with this text.
    public init(
        id: MessageID, sender: MemberID, text: String, sentAt: Date, transactionID: TransactionID? = nil,
        replyTo: MessageID? = nil, delivery: Message.Delivery = .sent, kind: Message.Kind = .text,
        formattedText: String? = nil, written: WrittenText? = nil, attachments: [MediaReference] = []
    ) {
        self.init(
            id: id, sender: sender,
            content: Message.Content(
                text, kind: kind, formattedText: formattedText, written: written, attachments: attachments),
            sentAt: sentAt, transactionID: transactionID, replyTo: replyTo, delivery: delivery)
    }

    /// Creates a message that stands for a state event.
    public init(id: MessageID, sender: MemberID, event: RoomEvent, sentAt: Date) {
        self.init(id: id, sender: sender, content: Message.Content(event), sentAt: sentAt)
    }

    @inlinable
    public subscript<Value>(dynamicMember member: WritableKeyPath<Message.Content, Value>) -> Value {
        get { content[keyPath: member] }
        set { content[keyPath: member] = newValue }
    }

    /// The text for the room list: the message's text, or else the name of its first attachment.
    var summary: String { content.text.isEmpty ? content.attachments.first?.name ?? "" : content.text }
}
