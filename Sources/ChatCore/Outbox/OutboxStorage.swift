/// Persistent storage of the outbox.
public protocol OutboxStorage: Sendable {
    /// Returns all requests; those of a room in the order they were queued.
    func outboxRequests() async throws -> [OutboxRequest]
    /// Applies a change atomically. It is durable once this returns.
    func commit(_ change: OutboxChange) async throws
    /// Whether the room exists. The storage removes the requests of a room together with the room.
    func hasRoom(_ room: RoomID) async throws -> Bool
}

/// For a storage that knows no rooms.
extension OutboxStorage {
    public func hasRoom(_ room: RoomID) async throws -> Bool { true }
}

/// A change of the outbox.
public struct OutboxChange: Equatable, Sendable {
    /// A request's room and transaction.
    public struct Key: Hashable, Sendable {
        public let room: RoomID
        public let id: TransactionID

        public init(room: RoomID, id: TransactionID) {
            self.room = room
            self.id = id
        }
    }

    /// Requests to insert or update. Existing ones retain their place, new ones are appended to their rooms.
    public var put: [OutboxRequest]
    public var removed: Set<Key>
    /// The room whose draft became the first request in ``put``.
    public var sentDraft: RoomID?
    /// The draft that replaces the sent one.
    public var remainingDraft: SavedDraft?

    public init(
        put: [OutboxRequest] = [], removed: Set<Key> = [], sentDraft: RoomID? = nil, remainingDraft: SavedDraft? = nil
    ) {
        self.put = put
        self.removed = removed
        self.sentDraft = sentDraft
        self.remainingDraft = remainingDraft
    }
}
