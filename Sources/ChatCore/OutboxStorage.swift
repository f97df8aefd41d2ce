/// Keeps what is on its way over any end of the process.
public protocol OutboxStorage: Sendable {
    /// All requests, each room's in the order in which they were queued.
    func outboxRequests() async throws -> [OutboxRequest]
    /// Carries out a change whole or not at all. Once this returns it survives anything but the loss of the disk.
    func commit(_ change: OutboxChange) async throws
}

/// A change of what is kept.
public struct OutboxChange: Equatable, Sendable {
    /// A request by its room and its transaction.
    public struct Key: Hashable, Sendable {
        public let room: RoomID
        public let id: TransactionID

        public init(room: RoomID, id: TransactionID) {
            self.room = room
            self.id = id
        }
    }

    /// Those known already take the places they have; others go to the end of their rooms.
    public var put: [OutboxRequest]
    public var removed: Set<Key>
    /// The room whose draft became the first of ``put``.
    public var sentDraft: RoomID?
    /// What takes the place of that draft.
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
