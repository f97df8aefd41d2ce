public import ChatCore
public import Foundation

/// What a server told at one time, to be taken in whole or not at all.
public struct SyncBatch: Equatable, Sendable {
    public var rooms: [RoomBatch]
    /// The store's own settings, such as how far the server was read.
    public var settings: [String: String]
    /// New ones, and those of which something else is told. Entering or leaving a room ends the one into it.
    public var invitations: [Invitation] = []
    /// Whether ``invitations`` are all that there are.
    public var areInvitationsWhole = false
    /// All conversations for two, if they are others than before.
    public var directRooms: Set<RoomID>?

    public init(rooms: [RoomBatch] = [], settings: [String: String] = [:]) {
        self.rooms = rooms
        self.settings = settings
    }
}

/// What a server told of one room.
public struct RoomBatch: Equatable, Sendable {
    public var id: RoomID
    /// nil leaves the name as it is, or the identifier in a room that is new.
    public var name: String?
    /// Where the room's picture is; `.some(nil)` takes it away, nil leaves it as it is.
    public var avatar: String??
    /// The last activity of a room that is new, until it has a message.
    public var createdAt: Date
    /// Whether the user is no longer in it: the room goes, with all that was in it.
    public var isLeft = false
    /// Those who came, left or have another name. Whoever sends something and is not known is a member by that.
    public var members: [Member]
    /// Those of whom it was deleted what they are called, and what they look like.
    public var unnamed: [MemberID] = []
    /// Which events set the state of which a part is told.
    public var origins: [StateOrigin.Subject: MessageID] = [:]
    /// Oldest first.
    public var events: [TimelineEvent]
    /// Where to ask for what is missing between what is known and ``events``, backwards; nil if nothing is.
    public var gap: String?
    /// Settings of the room; a value of nil removes one.
    public var settings: [String: String?]
    /// How far others have read.
    public var receipts: [ReadReceipt] = []
    /// What the user has marked as read anywhere: all before the latest of it is. One that is not known waits.
    public var fullyReadMarkers: [MessageID] = []
    /// What the server counts as unread; nil if it does not say. It is believed where messages are missing here, and where
    /// it is nothing and nobody can tell here what was read.
    public var counted: UnreadCount?
    /// Of a room that is new: whether it is a conversation for two.
    public var isDirect = false

    public init(
        id: RoomID, name: String? = nil, createdAt: Date, members: [Member] = [], events: [TimelineEvent] = [],
        gap: String? = nil, settings: [String: String?] = [:]
    ) {
        self.id = id
        self.name = name
        self.createdAt = createdAt
        self.members = members
        self.events = events
        self.gap = gap
        self.settings = settings
    }
}

/// How many messages are unread, and how many of them are meant for the user.
public struct UnreadCount: Equatable, Sendable {
    public var messages: Int
    public var mentions: Int

    public init(messages: Int, mentions: Int) {
        self.messages = messages
        self.mentions = mentions
    }
}

/// Which event set a part of a room's state.
public struct StateOrigin: Hashable, Sendable {
    public struct Subject: Hashable, Sendable {
        public var type: String
        /// Whom or what it is about; empty for the room.
        public var key: String

        public init(type: String, key: String) {
            self.type = type
            self.key = key
        }
    }

    public var subject: Subject
    public var event: MessageID

    public init(_ subject: Subject, event: MessageID) {
        self.subject = subject
        self.event = event
    }
}

/// One thing that happened in a room, as it concerns its messages.
public enum TimelineEvent: Equatable, Sendable {
    case message(NewMessage)
    /// A message that was deleted before it was told.
    case deleted(NewMessage)
    /// Something that is no message by itself, and has its place all the same: read marks may be at it.
    case silent(MessageID)
    /// What a ``silent(_:)`` event, or none, did to a message.
    case change(MessageChange)
    /// A change that was deleted before it was told.
    case withdrawn(MessageID, at: Date)
}

/// What changes a message, known or not.
public struct MessageChange: Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        case edit(Wording)
        /// Of the message, or of the edit or reaction that has this identifier.
        case deletion
        case reaction(String)
    }

    /// Under which the backend knows the change.
    public var id: String
    public var target: MessageID
    public var sender: MemberID
    public var at: Date
    public var kind: Kind
    /// Of an edit, what the message is from then on besides its text; nil leaves that as it is.
    public var content: MessageContents?

    public init(
        id: String, target: MessageID, sender: MemberID, at: Date, kind: Kind, content: MessageContents? = nil
    ) {
        self.content = content
        self.id = id
        self.target = target
        self.sender = sender
        self.at = at
        self.kind = kind
    }
}

/// What a message is, besides its text.
public struct MessageContents: Equatable, Sendable {
    public var kind: Message.Kind
    public var attachments: [MediaReference]

    public init(kind: Message.Kind, attachments: [MediaReference]) {
        self.kind = kind
        self.attachments = attachments
    }
}

/// A place in a room's timeline where messages are missing that the server has.
public struct TimelineGap: Equatable, Sendable {
    /// Messages at this position and after it are behind the gap, those before it in front of it.
    public var position: Int64
    /// Where the server goes on, backwards from what is behind.
    public var token: String
    /// The same forwards from what is in front; nil where that is not known.
    public var forward: String?

    private static let eventPrefix = "before "

    /// In the place of a token, where none is known.
    public static func token(before event: MessageID) -> String { eventPrefix + event.rawValue }

    /// What is right behind it, where the server is to be asked for the token.
    public var eventBehind: MessageID? {
        token.hasPrefix(Self.eventPrefix) ? MessageID(String(token.dropFirst(Self.eventPrefix.count))) : nil
    }

    public init(position: Int64, token: String, forward: String? = nil) {
        self.position = position
        self.token = token
        self.forward = forward
    }
}

/// A piece of a server's history, from wherever it was asked for.
public struct TimelineChunk: Equatable, Sendable {
    /// Oldest first.
    public var events: [TimelineEvent]
    /// Where the server goes on backwards; nil at the beginning of the room.
    public var older: String?
    /// The same forwards; nil at its end.
    public var newer: String?

    public init(events: [TimelineEvent], older: String? = nil, newer: String? = nil) {
        self.events = events
        self.older = older
        self.newer = newer
    }
}

/// What became of a room by a batch.
public struct RoomChange: Equatable, Sendable {
    public var room: RoomID
    public var isNew = false
    public var isLeft = false
    /// New and changed messages as they are now, oldest first.
    public var changed: [Message] = []
    /// Members who are new or another than before; nil if none is.
    public var members: [Member]?
}
