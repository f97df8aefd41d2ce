public import ChatCore
public import Composer
public import Foundation

/// A message on its way into the store, which gives it its position.
public struct NewMessage: Equatable, Sendable {
    /// Unique in its room.
    public var id: MessageID
    public var sender: MemberID
    /// UTF-8 of at most ``ChatLimits/messageBytes``; the store does not check.
    public var text: String
    /// Kept to the millisecond.
    public var sentAt: Date
    public var transactionID: TransactionID?
    public var replyTo: MessageID?
    public var delivery: Message.Delivery
    public var kind: Message.Kind
    public var formattedText: String?
    /// As the user wrote it.
    public var written: WrittenText?
    /// See ``Wording/mentionsEveryone``.
    public var mentionsEveryone = false
    public var attachments: [MediaReference]
    /// Without a meaning for what the user says.
    public var notificationLevel = NotificationLevel.unread
    /// What happened, instead of what was said.
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

    /// Something that happened in the room.
    public init(id: MessageID, sender: MemberID, event: RoomEvent, sentAt: Date) {
        self.init(id: id, sender: sender, text: "", sentAt: sentAt, kind: .event)
        self.event = event
    }

    /// What a list shows of it: the text, or else the name of its first file.
    var summary: String { text.isEmpty ? attachments.first?.name ?? "" : text }
}
