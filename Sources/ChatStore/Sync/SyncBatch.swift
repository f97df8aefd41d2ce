public import ChatCore
public import Foundation

/// One sync response, applied atomically.
public struct SyncBatch: Equatable, Sendable {
    public var rooms: [RoomBatch]
    /// Store settings, such as the sync token.
    public var settings: [String: String]
    /// New and changed invitations. Joining or leaving a room removes its invitation.
    public var invitations: [Invitation] = []
    /// Whether ``invitations`` is the complete list, as in an initial sync.
    public var areInvitationsWhole = false
    /// Whether a complete list begins with ``invitations``, as in an initial sync of several responses.
    public var beginsInvitations = false
    /// Whether a list that began earlier is complete with ``invitations``. The invitations that it did not include are
    /// removed; without such a list, none.
    public var endsInvitations = false
    /// All direct chats, or `nil` if they did not change.
    public var directRooms: Set<RoomID>?
    /// All ignored users, or `nil` if they did not change.
    public var ignoredUsers: Set<MemberID>?

    public init(rooms: [RoomBatch] = [], settings: [String: String] = [:]) {
        self.rooms = rooms
        self.settings = settings
    }
}

/// One room's part of a sync response.
public struct RoomBatch: Equatable, Sendable {
    public var id: RoomID
    /// `nil` keeps the current name; a new room is then named by its identifier.
    public var name: String?
    /// The URI of the room's avatar; `.some(nil)` removes it, `nil` keeps the current one.
    public var avatar: String??
    /// The last activity of a new room until it has a message.
    public var createdAt: Date
    /// Whether the user has left the room, which deletes it with its whole history.
    public var isLeft = false
    /// How another user removed the user from the room that is left, by the names in the response; `nil` if nobody did.
    public var removal: RoomRemoval?
    /// Whether the room is a space, which is remembered as one and not stored as a room.
    public var isSpace = false
    /// Members who joined, left or changed their profile. Unknown senders need not be listed: they are added as former
    /// members.
    public var members: [Member]
    /// Members whose display name and avatar were redacted.
    public var unnamed: [MemberID] = []
    /// The state events that set the stored parts of the room's state.
    public var origins: [StateOrigin.Subject: MessageID] = [:]
    /// The timeline events, oldest first.
    public var events: [TimelineEvent]
    /// The pagination token for the history missing between the stored messages and ``events``, backwards; `nil` if the
    /// timeline is contiguous.
    public var gap: String?
    /// The room's state after the response; `nil` keeps the current one.
    public var state: RoomState?
    /// Read receipts of other members.
    public var receipts: [ReadReceipt] = []
    /// The user's fully-read markers and own receipts from any device; the latest in the timeline wins. One for an
    /// unknown event is stored until that event arrives.
    public var fullyReadMarkers: [MessageID] = []
    /// The server's unread count, or `nil` if it sent none. It applies where history is missing locally, and when it is
    /// zero and the read position is not known locally.
    public var counted: UnreadCount?
    /// Whether the user has marked the room as unread; `nil` if unchanged.
    public var isMarkedUnread: Bool?
    /// Whether a new room is a direct chat.
    public var isDirect = false

    public init(
        id: RoomID, name: String? = nil, createdAt: Date, members: [Member] = [], events: [TimelineEvent] = [],
        gap: String? = nil
    ) {
        self.id = id
        self.name = name
        self.createdAt = createdAt
        self.members = members
        self.events = events
        self.gap = gap
    }
}

/// The number of unread messages, and how many of them mention the user.
public struct UnreadCount: Equatable, Sendable {
    public var messages: Int
    public var mentions: Int

    public init(messages: Int, mentions: Int) {
        self.messages = messages
        self.mentions = mentions
    }
}

/// The event that set a part of a room's state.
public struct StateOrigin: Hashable, Sendable {
    public struct Subject: Hashable, Sendable {
        public var type: String
        /// The state key; empty for the room itself.
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

/// A timeline event, by its effect on the room's messages.
public enum TimelineEvent: Equatable, Sendable {
    case message(NewMessage)
    /// A message that was already redacted when the server sent it.
    case deleted(NewMessage)
    /// An event that is not shown as a message but holds a position in the timeline, since receipts may point at it.
    case silent(MessageID)
    /// A change of a message; its event holds a position only if there is also a ``silent(_:)`` event for it.
    case change(MessageChange)
    /// An edit or reaction that was already redacted when the server sent it.
    case redacted(MessageID, at: Date)
    /// An encrypted change of a message that could not be read. It is not displayed, and holds a position only if there
    /// is also a ``silent(_:)`` event for it.
    case sealed(Ciphertext)
}

/// A change of a message, which may not be stored yet.
public struct MessageChange: Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        case edit(Wording)
        /// Deletes the target, which is a message, an edit or a reaction.
        case deletion
        case reaction(String)
    }

    /// The backend's identifier of the change.
    public var id: String
    public var target: MessageID
    public var sender: MemberID
    public var at: Date
    public var kind: Kind
    /// The new kind and attachments of an edited message; `nil` keeps them.
    public var content: MessageMedia?
    /// Whether the sender encrypted it. An encrypted message accepts only encrypted edits.
    public var isEncrypted = false
    /// Why its sender is not certain, if so. The edited message then says so, too.
    public var trust: MessageTrust?
    /// Whether an edit by itself mentions the user, according to the push rules. The edited message then becomes a
    /// mention. Ignored for the user's own messages.
    public var isMention = false

    public init(
        id: String, target: MessageID, sender: MemberID, at: Date, kind: Kind, content: MessageMedia? = nil
    ) {
        self.content = content
        self.id = id
        self.target = target
        self.sender = sender
        self.at = at
        self.kind = kind
    }
}

/// A message's content besides its text.
public struct MessageMedia: Equatable, Sendable {
    public var kind: Message.Kind
    public var attachments: [MediaReference]

    public init(kind: Message.Kind, attachments: [MediaReference]) {
        self.kind = kind
        self.attachments = attachments
    }
}

/// A gap in a room's stored timeline that the server can fill.
public struct TimelineGap: Equatable, Sendable {
    /// Messages at this position and above are after the gap, those below are before it.
    public var position: Int64
    /// The pagination token for going backwards from the end of the gap, or a placeholder from ``token(before:)``.
    public var token: String
    /// The pagination token for going forwards from the start of the gap, or `nil` if unknown.
    public var forward: String?

    private static let eventPrefix = "before "

    /// Returns a placeholder for an unknown pagination token.
    public static func token(before event: MessageID) -> String { eventPrefix + event.rawValue }

    /// The event right after the gap, for which to ask the server for a token (`/context`); `nil` if ``token`` is a
    /// real token.
    public var eventBehind: MessageID? {
        token.hasPrefix(Self.eventPrefix) ? MessageID(String(token.dropFirst(Self.eventPrefix.count))) : nil
    }

    public init(position: Int64, token: String, forward: String? = nil) {
        self.position = position
        self.token = token
        self.forward = forward
    }
}

/// A contiguous chunk of a room's history from the server, not necessarily next to stored messages.
public struct TimelineChunk: Equatable, Sendable {
    /// The events, oldest first.
    public var events: [TimelineEvent]
    /// The pagination token for older events; `nil` at the beginning of the room.
    public var older: String?
    /// The pagination token for newer events; `nil` at the end of the timeline.
    public var newer: String?

    public init(events: [TimelineEvent], older: String? = nil, newer: String? = nil) {
        self.events = events
        self.older = older
        self.newer = newer
    }
}

/// How a batch changed a room.
public struct RoomChange: Equatable, Sendable {
    public var room: RoomID
    public var isNew = false
    public var isLeft = false
    /// How another user removed the user from the room, which was stored until then; `nil` if nobody did.
    public var removal: RoomRemoval?
    /// New and changed messages in their current state, oldest first.
    public var changed: [Message] = []
    /// Rows that turned out not to be messages.
    public var removed: [MessageID] = []
    /// Whether other messages are shown now, or at other positions, so that observers have to start over.
    public var needsReload = false
    /// The messages that the sync added at the end, that are unread, and that notify.
    public var arrived: [MessageArrival] = []
    /// New and changed members, or `nil` if there are none.
    public var members: [Member]?
}
