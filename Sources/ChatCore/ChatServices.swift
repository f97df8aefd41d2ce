public import Composer

/// The rooms of an account.
public protocol RoomService: Sendable {
    /// All rooms, most recently active first: once at the start, then after each change.
    /// A slow reader sees the newest state, not each state between.
    func roomSummaries() -> AsyncStream<[RoomSummary]>
    /// - Throws: ``ChatError/invalidName`` or a storage error.
    func createRoom(named name: String) async throws -> RoomID
    func renameRoom(_ room: RoomID, to name: String) async throws
    /// Leaves the room; what was said in it is deleted from this computer.
    func leaveRoom(_ room: RoomID) async throws
    func removeMember(_ member: MemberID, from room: RoomID) async throws
}

/// A room's messages as they are and as they change.
public protocol TimelineService: Sendable {
    /// Begins with ``TimelineUpdate/opened(_:members:readUpTo:)`` holding at most `limit` messages,
    /// and goes on until the room is closed or the stream is dropped. No update is skipped.
    /// A stream that ends without ``TimelineUpdate/closed`` could not be read from the storage, or the backend ended.
    func timeline(of room: RoomID, limit: Int) -> AsyncStream<TimelineUpdate>
    /// The page that ends just before `position`, at most `limit` messages.
    func messages(in room: RoomID, before position: Int64, limit: Int) async throws -> TimelinePage
    /// The page that begins just after `position`, at most `limit` messages.
    func messages(in room: RoomID, after position: Int64, limit: Int) async throws -> TimelinePage
    /// A page with the target in its middle, as far as there is something on both sides; at most `limit` messages.
    /// - Throws: ``ChatError/notFound`` without the message.
    func messages(in room: RoomID, around target: TimelineTarget, limit: Int) async throws -> TimelinePage
    /// Those of the messages that there are.
    func messages(_ ids: [MessageID], in room: RoomID) async throws -> [Message]
    /// Brings all that was said in a room to this computer, from the newest to the oldest, as far as it can be had now.
    ///
    /// - Parameter progress: told how many messages were fetched, from any thread.
    /// - Returns: the position from which nothing is missing; nil if nothing is.
    /// - Throws: a storage error, or `CancellationError`. A server that does not answer is no error.
    func fetchHistory(
        of room: RoomID, progress: @escaping @Sendable (Int) -> Void
    ) async throws -> Int64?
    /// Moves the read marker forward to this message; never back.
    func markRead(_ message: MessageID, in room: RoomID) async throws
}

extension TimelineService {
    public func fetchHistory(
        of room: RoomID, progress: @escaping @Sendable (Int) -> Void
    ) async throws -> Int64? { nil }
}

/// What a member does in a room.
public protocol MessageService: Sendable {
    /// Stores the message, and removes the room's draft in the same transaction if it was written there
    /// (``WrittenMessage/removesDraft``). Once this returns the message survives
    /// anything but the loss of the disk. Sending a transaction again returns the message stored first.
    @discardableResult
    func send(_ message: WrittenMessage, as transaction: TransactionID, to room: RoomID) async throws -> Message
    /// The same with several, in their order: all of them are stored, or none.
    /// - Parameter draft: what is still unsent then, such as a message that failed before: it is the room's draft from the
    ///   same moment on, so that it is lost at none.
    func send(
        _ messages: [(transaction: TransactionID, message: WrittenMessage)], to room: RoomID, leaving draft: SavedDraft?
    ) async throws
    /// Changes what one of the user's messages says. One with files may be left without a text.
    func edit(_ message: MessageID, in room: RoomID, to text: WrittenText) async throws
    /// How many bytes a message is larger than what the backend takes as one; negative for what is left. Off the main
    /// thread: it takes time that grows with the text.
    /// - Parameter isEdit: whether it is to change what one says that is there.
    nonisolated func excess(of message: WrittenMessage, isEdit: Bool) -> Int
    /// Sends again what the backend gave up, or what waits for its next attempt; nil for all of the room. Does nothing
    /// where nothing waits.
    func retry(_ transaction: TransactionID?, in room: RoomID) async throws
    /// Gives up what is on its way or was refused, and a change of a message with it; nil for all of the room. What the
    /// backend may have is deleted there.
    func discard(_ transaction: TransactionID?, in room: RoomID) async throws
    /// Leaves a placeholder behind. Of what was never sent nothing is left.
    func delete(_ message: MessageID, in room: RoomID) async throws
    /// Tells the others that the user types or has stopped.
    func setTyping(_ isTyping: Bool, in room: RoomID) async
}

extension MessageService {
    public func send(
        _ messages: [(transaction: TransactionID, message: WrittenMessage)], to room: RoomID
    ) async throws { try await send(messages, to: room, leaving: nil) }

    public nonisolated func excess(of message: WrittenMessage, isEdit: Bool) -> Int {
        message.text.source.utf8.count - ChatLimits.messageBytes
    }
}

/// What is unsent in each room.
public protocol DraftService: Sendable {
    func draft(in room: RoomID) async throws -> SavedDraft?
    /// nil removes the draft.
    func saveDraft(_ draft: SavedDraft?, in room: RoomID) async throws
}

/// Where the user reads in each room.
public protocol ScrollPositionService: Sendable {
    /// nil at the newest message, and where nothing was kept.
    func scrollPosition(in room: RoomID) async throws -> ScrollPosition?
    func saveScrollPosition(_ position: ScrollPosition?, in room: RoomID) async throws
}

/// All that a backend offers a conversation.
public typealias ChatService = RoomService & TimelineService & MessageService & DraftService & ScrollPositionService
    & RoomCapabilityService & MediaService & AnnotationService & SearchService & InvitationService
    & RoomMembersService
