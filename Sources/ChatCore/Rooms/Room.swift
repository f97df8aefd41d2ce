public import Composer
public import Foundation

public struct Room: Identifiable, Equatable, Sendable {
    public enum Kind: String, Sendable, Codable {
        /// The user's own notes, without other members.
        case notes
        /// A chat with the built-in guide.
        case guide
        /// A direct chat, shown with the other member's name.
        case direct
        /// Any other room.
        case group
    }

    public let id: RoomID
    public var name: String
    public var kind: Kind
    /// The room's avatar, as a ``MediaReference/uri``.
    public var avatar: String?
    /// The canonical alias, such as `#garden:example.org`.
    public var address: String?

    public init(id: RoomID, name: String, kind: Kind, avatar: String? = nil, address: String? = nil) {
        self.address = address
        self.id = id
        self.name = name
        self.kind = kind
        self.avatar = avatar
    }
}

/// A room as shown in the room list.
public struct RoomSummary: Identifiable, Equatable, Sendable {
    /// The newest message that is not deleted, reduced to what the list shows.
    public struct LastMessage: Equatable, Sendable {
        /// The maximum length of ``text``.
        public static let maxCharacters = 200

        public var senderName: String
        public var isOwn: Bool
        /// The first ``maxCharacters`` of the text, including Markdown delimiters.
        public var text: String
        /// The syntax of a message with a source text or HTML. Otherwise `nil`, and ``BackendCapabilities/plainTexts``
        /// decides.
        public var syntax: WrittenText.Syntax?
        public var sentAt: Date
        /// The delivery state of one of the user's own messages.
        public var delivery: Message.Delivery
        /// Whether it is encrypted and cannot be read. Its text is then empty.
        public var isSealed: Bool

        public init(
            senderName: String, isOwn: Bool, text: String, syntax: WrittenText.Syntax? = nil, sentAt: Date,
            delivery: Message.Delivery = .sent, isSealed: Bool = false
        ) {
            self.isSealed = isSealed
            self.senderName = senderName
            self.isOwn = isOwn
            self.text = text
            self.syntax = syntax
            self.sentAt = sentAt
            self.delivery = delivery
        }
    }

    public var room: Room
    public var lastMessage: LastMessage?
    /// When the last message was sent; the time of creation for an empty room.
    public var lastActivity: Date
    /// The number of notifying messages from others after the fully-read marker.
    public var unreadCount: Int
    /// The number of those that mention the user.
    public var mentionCount: Int
    /// Whether both counts are lower bounds: messages are missing after the fully-read marker, and the server has sent
    /// no count.
    public var mayHaveMoreUnread: Bool
    /// Whether the user has marked the room as unread, regardless of unread messages.
    public var isMarkedUnread: Bool
    /// Whether nothing in the room notifies (``RoomNotificationRule/nothing``).
    public var isMuted = false
    /// The text of the draft, if any.
    public var draftPreview: String?

    public var id: RoomID { room.id }

    public init(
        room: Room, lastMessage: LastMessage?, lastActivity: Date, unreadCount: Int, draftPreview: String?,
        mentionCount: Int = 0, mayHaveMoreUnread: Bool = false, isMarkedUnread: Bool = false
    ) {
        self.isMarkedUnread = isMarkedUnread
        self.mayHaveMoreUnread = mayHaveMoreUnread
        self.room = room
        self.lastMessage = lastMessage
        self.lastActivity = lastActivity
        self.unreadCount = unreadCount
        self.draftPreview = draftPreview
        self.mentionCount = mentionCount
    }
}
