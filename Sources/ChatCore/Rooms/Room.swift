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
        /// The warning that the timeline shows beside it.
        public var trust: MessageTrust?

        public init(
            senderName: String, isOwn: Bool, text: String, syntax: WrittenText.Syntax? = nil, sentAt: Date,
            delivery: Message.Delivery = .sent, isSealed: Bool = false, trust: MessageTrust? = nil
        ) {
            self.isSealed = isSealed
            self.trust = trust
            self.senderName = senderName
            self.isOwn = isOwn
            self.text = text
            self.syntax = syntax
            self.sentAt = sentAt
            self.delivery = delivery
        }
    }

    private struct Content: Equatable, Sendable {
        var room: Room
        var lastMessage: LastMessage?
        var lastActivity: Date
        var unreadCount: Int
        var mentionCount: Int
        var mayHaveMoreUnread: Bool
        var isMarkedUnread: Bool
        var isMuted = false
        var draftPreview: String?
    }

    private final class Storage: Sendable {
        let content: Content

        init(_ content: Content) { self.content = content }
    }

    /// Shared by copies: a change of one room copies and compares a list of possibly thousands.
    private var storage: Storage

    private mutating func change(_ change: (inout Content) -> Void) {
        var content = storage.content
        change(&content)
        storage = Storage(content)
    }

    public static func == (one: RoomSummary, other: RoomSummary) -> Bool {
        one.storage === other.storage || one.storage.content == other.storage.content
    }

    public var room: Room {
        get { storage.content.room }
        set { change { $0.room = newValue } }
    }
    public var lastMessage: LastMessage? {
        get { storage.content.lastMessage }
        set { change { $0.lastMessage = newValue } }
    }
    /// When the last message was sent; the time of creation for an empty room.
    public var lastActivity: Date {
        get { storage.content.lastActivity }
        set { change { $0.lastActivity = newValue } }
    }
    /// The number of notifying messages from others after the fully-read marker.
    public var unreadCount: Int {
        get { storage.content.unreadCount }
        set { change { $0.unreadCount = newValue } }
    }
    /// The number of those that mention the user.
    public var mentionCount: Int {
        get { storage.content.mentionCount }
        set { change { $0.mentionCount = newValue } }
    }
    /// Whether both counts are lower bounds: messages are missing after the fully-read marker, and the server has sent
    /// no count.
    public var mayHaveMoreUnread: Bool {
        get { storage.content.mayHaveMoreUnread }
        set { change { $0.mayHaveMoreUnread = newValue } }
    }
    /// Whether the user has marked the room as unread, regardless of unread messages.
    public var isMarkedUnread: Bool {
        get { storage.content.isMarkedUnread }
        set { change { $0.isMarkedUnread = newValue } }
    }
    /// Whether nothing in the room notifies (``RoomNotificationRule/nothing``).
    public var isMuted: Bool {
        get { storage.content.isMuted }
        set { change { $0.isMuted = newValue } }
    }
    /// The text of the draft, if any.
    public var draftPreview: String? {
        get { storage.content.draftPreview }
        set { change { $0.draftPreview = newValue } }
    }

    public var id: RoomID { storage.content.room.id }

    public init(
        room: Room, lastMessage: LastMessage?, lastActivity: Date, unreadCount: Int, draftPreview: String?,
        mentionCount: Int = 0, mayHaveMoreUnread: Bool = false, isMarkedUnread: Bool = false
    ) {
        storage = Storage(
            Content(
                room: room, lastMessage: lastMessage, lastActivity: lastActivity, unreadCount: unreadCount,
                mentionCount: mentionCount, mayHaveMoreUnread: mayHaveMoreUnread, isMarkedUnread: isMarkedUnread,
                draftPreview: draftPreview))
    }
}
