public import ChatCore
public import Foundation

/// The parts of a room's state on its server that are known and needed.
public struct RoomState: Equatable, Sendable, Codable {
    /// Whether the room's messages are encrypted.
    public enum Encryption: String, Sendable, Codable {
        /// Not known yet: ask the server before sending anything.
        case unknown
        case off
        /// Final: whatever is stored later, the room stays encrypted.
        case on
    }

    public struct Creation: Equatable, Sendable, Codable {
        public var creator: MemberID
        public var at: Date
        /// The creators who have infinite power according to the room's version.
        public var privileged: Set<MemberID>

        public init(creator: MemberID, at: Date, privileged: Set<MemberID> = []) {
            self.creator = creator
            self.at = at
            self.privileged = privileged
        }
    }

    public var encryption = Encryption.unknown
    /// The name that the room was given; `nil` if it is named after its members.
    public var name: String?
    /// The canonical alias.
    public var alias: String?
    public var topic: String?
    /// The room's own avatar.
    public var avatar: String?
    /// The members whom a room without a name or an alias is named after.
    public var heroes: [MemberID] = []
    /// The number of joined members.
    public var joinedCount: Int?
    /// The content of `m.room.power_levels`, as JSON.
    public var powerLevels: String?
    public var creation: Creation?
    public var succession = RoomSuccession()

    public init() {}
}

/// What is stored of a room before a sync response changes it.
public struct KnownRoom: Equatable, Sendable {
    public var state: RoomState
    /// The user as a member of the room.
    public var ownMember: Member?
    /// Current and former members, if the request asked for them.
    public var members: [Member] = []
    /// The stored parts of the state that the requested events set.
    public var origins: [StateOrigin] = []

    public init(state: RoomState = RoomState(), ownMember: Member? = nil, members: [Member] = []) {
        self.state = state
        self.ownMember = ownMember
        self.members = members
    }

    /// What to read of a room.
    public struct Request: Sendable {
        public enum Members: Sendable {
            case none
            /// Only if the stored state has neither a name nor an alias, or may lose it by one of the request's events.
            /// Large rooms have one, and many members.
            case ifNameless
            case all
        }

        public var room: RoomID
        public var members: Members
        /// State events whose stored parts to look up.
        public var events: Set<MessageID>
        /// The types of the state that names a room. If an event of ``events`` has set such state, the room may become
        /// nameless.
        public var namingTypes: Set<String>

        public init(
            _ room: RoomID, members: Members = .none, events: Set<MessageID> = [], namingTypes: Set<String> = []
        ) {
            self.room = room
            self.members = members
            self.events = events
            self.namingTypes = namingTypes
        }
    }
}

/// What is stored of several rooms, read in one transaction.
public struct KnownRooms: Equatable, Sendable {
    /// The requested rooms that are stored.
    public var rooms: [RoomID: KnownRoom] = [:]
    /// The requested rooms that are spaces, which are not stored as rooms.
    public var spaces: Set<RoomID> = []

    public init() {}
}
