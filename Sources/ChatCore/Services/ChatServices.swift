public import Composer

/// The rooms of an account.
public protocol RoomService: Sendable {
    /// All rooms, most recently active first: once at the start, then after each change. Intermediate states may be
    /// skipped for a slow consumer.
    func roomSummaries() -> AsyncStream<[RoomSummary]>
    /// Creates a room.
    /// - Throws: ``ChatError/invalidName`` or a storage error.
    func createRoom(named name: String) async throws -> RoomID
    func renameRoom(_ room: RoomID, to name: String) async throws
    /// Leaves the room and deletes its history from this computer.
    func leaveRoom(_ room: RoomID) async throws
    /// Returns the number of unsent items that leaving the room would lose.
    func pendingCount(in room: RoomID) async throws -> PendingCount
    /// What was not sent in each room that the user is no longer in, just before it is removed. What nobody
    /// observes waits for an observer.
    func unsentOfLeftRooms() -> AsyncStream<UnsentContent>
    /// How other users removed the user from rooms, once each, as the rooms are removed. What nobody observes waits for
    /// an observer.
    func roomRemovals() -> AsyncStream<RoomRemoval>
    func removeMember(_ member: MemberID, from room: RoomID) async throws
    /// Marks the room as unread on all devices of the user, or removes the mark. Reading a message there or sending one
    /// removes it, too.
    /// - Throws: ``ChatError/notFound`` or a storage error.
    func setMarkedUnread(_ isMarkedUnread: Bool, in room: RoomID) async throws
    /// Marks all messages of the room as read, and removes its unread mark.
    /// - Throws: ``ChatError/notFound`` or a storage error.
    func markAllRead(in room: RoomID) async throws
}

extension RoomService {
    public func pendingCount(in room: RoomID) async throws -> PendingCount { PendingCount() }
    /// For a backend whose rooms only the user removes.
    public func unsentOfLeftRooms() -> AsyncStream<UnsentContent> { AsyncStream { $0.finish() } }
    /// For a backend whose rooms only the user removes.
    public func roomRemovals() -> AsyncStream<RoomRemoval> { AsyncStream { $0.finish() } }
}

/// A backend that creates initial rooms for a new user.
public protocol FirstRoomsService: Sendable {
    /// Whether the user has not decided yet whether to create initial rooms.
    var awaitsFirstRooms: Bool { get }
    /// Creates them, once; later calls do nothing.
    func createFirstRooms() async throws
}

/// The messages of a room and their changes.
public protocol TimelineService: Sendable {
    /// Begins with ``TimelineUpdate/opened(_:members:fullyReadMarker:)`` with at most `limit` messages, and continues
    /// until the room is closed or the stream is dropped. No update is skipped.
    /// The stream ends without ``TimelineUpdate/closed`` if the storage could not be read or the backend shut down.
    func timeline(of room: RoomID, limit: Int) -> AsyncStream<TimelineUpdate>
    /// Returns the page of at most `limit` messages that ends just before `position`.
    func messages(in room: RoomID, before position: Int64, limit: Int) async throws -> TimelinePage
    /// Returns the page of at most `limit` messages that begins just after `position`.
    func messages(in room: RoomID, after position: Int64, limit: Int) async throws -> TimelinePage
    /// Returns a page of at most `limit` messages. The target is in the middle unless one side has too few
    /// messages.
    /// - Throws: ``ChatError/notFound`` if the target message does not exist.
    func messages(in room: RoomID, around target: TimelineTarget, limit: Int) async throws -> TimelinePage
    /// Returns the messages with the given identifiers, without those that do not exist.
    /// - Throws: if it cannot be determined whether one of them exists.
    func messages(_ ids: [MessageID], in room: RoomID) async throws -> [Message]
    /// Fetches all of the room's history that the server currently provides, newest first, and then up to 2,000
    /// messages that have to be requested again.
    ///
    /// - Parameter progress: Receives the number of fetched messages, on any thread.
    /// - Returns: The position from which the history is complete, or `nil` if all of it is.
    /// - Throws: a storage error, or `CancellationError`. An unreachable server is not an error.
    func fetchHistory(
        of room: RoomID, progress: @escaping @Sendable (Int) -> Void
    ) async throws -> Int64?
    /// Moves the fully-read marker forward to this message, never back.
    func markRead(_ message: MessageID, in room: RoomID) async throws
}

extension TimelineService {
    public func fetchHistory(
        of room: RoomID, progress: @escaping @Sendable (Int) -> Void
    ) async throws -> Int64? { nil }
}

/// Sending, editing and deleting messages.
public protocol MessageService: Sendable {
    /// Stores the message, and removes the room's draft in the same transaction if the message was composed there
    /// (``WrittenMessage/removesDraft``). The message is durable once this returns. Repeating a transaction returns the
    /// message that was stored first.
    @discardableResult
    func send(_ message: WrittenMessage, as transaction: TransactionID, to room: RoomID) async throws -> Message
    /// Sends several messages in order; they are stored atomically.
    /// - Parameter draft: The remaining content, such as a message that failed before. It becomes the room's draft in
    ///   the same step, so that a crash cannot lose it.
    func send(
        _ messages: [(transaction: TransactionID, message: WrittenMessage)], to room: RoomID, leaving draft: SavedDraft?
    ) async throws
    /// Edits one of the user's messages. The text may be empty if the message has attachments.
    func edit(_ message: MessageID, in room: RoomID, to text: WrittenText) async throws
    /// Returns by how many bytes a message exceeds the backend's size limit; negative values are the bytes left. Takes
    /// time proportional to the text: call it off the main thread.
    /// - Parameters:
    ///   - isEdit: Whether the message is to be sent as an edit, which takes more space.
    ///   - room: The room. Encryption takes more space, too.
    nonisolated func excess(of message: WrittenMessage, isEdit: Bool, in room: RoomID) -> Int
    /// Immediately retries a failed message, or one that waits for its next attempt; `nil` retries all in the room.
    /// Does nothing if there are none.
    func retry(_ transaction: TransactionID?, in room: RoomID) async throws
    /// Discards a pending or failed message, or a pending change to a message; `nil` discards all in the room. If
    /// the backend may already have it, it is deleted there.
    func discard(_ transaction: TransactionID?, in room: RoomID) async throws
    /// Deletes a message and leaves a placeholder. A message that was never sent disappears completely.
    func delete(_ message: MessageID, in room: RoomID) async throws
    /// Sends or ends the user's typing notification.
    func setTyping(_ isTyping: Bool, in room: RoomID) async
}

extension MessageService {
    public func send(
        _ messages: [(transaction: TransactionID, message: WrittenMessage)], to room: RoomID
    ) async throws { try await send(messages, to: room, leaving: nil) }

    public nonisolated func excess(of message: WrittenMessage, isEdit: Bool, in room: RoomID) -> Int {
        message.text.source.utf8.count - ChatLimits.messageBytes
    }
}

/// The drafts of rooms.
public protocol DraftService: Sendable {
    func draft(in room: RoomID) async throws -> SavedDraft?
    /// Stores the room's draft; `nil` removes it.
    func saveDraft(_ draft: SavedDraft?, in room: RoomID) async throws
}

/// The user's scroll position in each room.
public protocol ScrollPositionService: Sendable {
    /// Returns `nil` if the room was at its newest message or no position is stored.
    func scrollPosition(in room: RoomID) async throws -> ScrollPosition?
    func saveScrollPosition(_ position: ScrollPosition?, in room: RoomID) async throws
}

/// The languages in which each room's messages are written, remembered on this computer.
public protocol WritingLanguageService: Sendable {
    /// Returns the locale names of the dictionaries to check spelling by, or `nil` if none were chosen for this room.
    func writingLanguages(in room: RoomID) async throws -> [String]?
    func saveWritingLanguages(_ languages: [String]?, in room: RoomID) async throws
}

/// Everything that a conversation needs from a backend.
public typealias ChatService = RoomService & TimelineService & MessageService & DraftService & ScrollPositionService
    & RoomCapabilityService & MediaService & AnnotationService & SearchService & InvitationService
    & RoomMembersService & NotificationService & NotificationSettingsService & WritingLanguageService
