public import ChatCore
public import Composer
public import Foundation

/// A message to be stored, which the store assigns a position.
public struct NewMessage: Equatable, Sendable {
    /// Unique in its room.
    public var id: MessageID
    public var sender: MemberID
    /// At most ``ChatLimits/messageBytes`` of UTF-8; the store does not check.
    public var text: String
    /// Stored with millisecond precision.
    public var sentAt: Date
    public var transactionID: TransactionID?
    public var replyTo: MessageID?
    public var delivery: Message.Delivery
    public var kind: Message.Kind
    public var formattedText: String?
    /// The source text, of a message written in this application.
    public var written: WrittenText?
    /// See ``Wording/mentionsEveryone``.
    public var mentionsEveryone = false
    public var attachments: [MediaReference]
    /// Ignored for the user's own messages.
    public var notificationLevel = NotificationLevel.unread
    /// The state change, for a message of the kind `event`.
    public var event: RoomEvent?

    public init(
        id: MessageID, sender: MemberID, text: String, sentAt: Date, transactionID: TransactionID? = nil,
        replyTo: MessageID? = nil, delivery: Message.Delivery = .sent, kind: Message.Kind = .text,
        formattedText: String? = nil, written: WrittenText? = nil, attachments: [MediaReference] = []
    ) {
        self.id = id
        self.sender = sender
        self.text = text
        self.sentAt = sentAt
        self.transactionID = transactionID
        self.replyTo = replyTo
        self.delivery = delivery
        self.kind = kind
        self.formattedText = formattedText
        self.written = written
        self.attachments = attachments
    }

    /// Creates a message that stands for a state event.
    public init(id: MessageID, sender: MemberID, event: RoomEvent, sentAt: Date) {
        self.init(id: id, sender: sender, text: "", sentAt: sentAt, kind: .event)
        self.event = event
    }

    /// The text for the room list: the message's text, or else the name of its first attachment.
    var summary: String { text.isEmpty ? attachments.first?.name ?? "" : text }
}
