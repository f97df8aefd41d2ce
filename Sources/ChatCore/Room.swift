public import Composer
public import Foundation

/// A conversation.
public struct Room: Identifiable, Equatable, Sendable {
    public enum Kind: String, Sendable, Codable {
        /// One's own notes: no other members.
        case notes
        /// A conversation with the built-in guide.
        case guide
        /// A conversation with one other, who is as good as its name.
        case direct
        /// Any other conversation.
        case group
    }

    public let id: RoomID
    public var name: String
    public var kind: Kind
    /// Where the room's picture is, as a ``MediaReference/uri``; nil without one.
    public var avatar: String?
    /// Under which others find the room, as in `#garden:example.org`; nil without one.
    public var address: String?

    public init(id: RoomID, name: String, kind: Kind, avatar: String? = nil, address: String? = nil) {
        self.address = address
        self.id = id
        self.name = name
        self.kind = kind
        self.avatar = avatar
    }
}

/// What a room list shows of a room.
public struct RoomSummary: Identifiable, Equatable, Sendable {
    /// The newest message that was not deleted, as far as a list needs it.
    public struct LastMessage: Equatable, Sendable {
        /// Of the text, as a list needs it.
        public static let maxCharacters = 200

        public var senderName: String
        public var isOwn: Bool
        /// At most the first ``mostCharacters`` of the text, with its Markdown.
        public var text: String
        /// How it is read where the message says so: written here, or with HTML beside it. Of nothing but a text
        /// ``BackendCapabilities/plainTexts`` decides.
        public var syntax: WrittenText.Syntax?
        public var sentAt: Date
        /// How far it has come, of one's own.
        public var delivery: Message.Delivery

        public init(
            senderName: String, isOwn: Bool, text: String, syntax: WrittenText.Syntax? = nil, sentAt: Date,
            delivery: Message.Delivery = .sent
        ) {
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
    /// When anything message-like last happened; the time of creation in an empty room.
    public var lastActivity: Date
    /// Messages of others after the read marker that the user is to be told of.
    public var unreadCount: Int
    /// Those of them that are meant for the user.
    public var mentionCount: Int
    /// Whether there may be more of either: messages are missing behind the read marker, and nobody counted them.
    public var mayHaveMoreUnread: Bool
    /// The unsent text of the room's composer, nil without one.
    public var draftPreview: String?

    public var id: RoomID { room.id }

    public init(
        room: Room, lastMessage: LastMessage?, lastActivity: Date, unreadCount: Int, draftPreview: String?,
        mentionCount: Int = 0, mayHaveMoreUnread: Bool = false
    ) {
        self.mayHaveMoreUnread = mayHaveMoreUnread
        self.room = room
        self.lastMessage = lastMessage
        self.lastActivity = lastActivity
        self.unreadCount = unreadCount
        self.draftPreview = draftPreview
        self.mentionCount = mentionCount
    }
}
