public import ChatCore
import ChatStore
public import Composer
public import Foundation

// The methods of the service protocols, which forward to the objects that do the work.

extension LocalBackend: ChatService {
    /// There are no other users and no rooms to join; `invite` adds the guide.
    public nonisolated var capabilities: BackendCapabilities {
        [.topic, .displayName, .invite, .reactions, .editHistory]
    }
}

extension LocalBackend: FirstRoomsService {}

// MARK: Rooms

extension LocalBackend {
    public nonisolated func roomSummaries() -> AsyncStream<[RoomSummary]> { roomList.summaries() }

    @discardableResult
    public func createRoom(named name: String) async throws -> RoomID { try await rooms.create(named: name) }

    public func renameRoom(_ room: RoomID, to name: String) async throws { try await rooms.rename(room, to: name) }

    public func leaveRoom(_ room: RoomID) async throws { try await rooms.leave(room) }

    public func pendingCount(in room: RoomID) async throws -> PendingCount { try await store.pendingCount(in: room) }

    /// - Throws: ``ChatError/notPermitted`` for the user, who has to leave instead.
    public func removeMember(_ member: MemberID, from room: RoomID) async throws {
        try await rooms.remove(member, from: room)
    }

    public func setMarkedUnread(_ isMarkedUnread: Bool, in room: RoomID) async throws {
        try await timelines.setMarkedUnread(isMarkedUnread, in: room)
    }

    public func markAllRead(in room: RoomID) async throws { try await timelines.markAllRead(in: room) }

    /// Adds the guide, given by its localized name or as `guide`, to a room.
    public func invite(_ address: String, to room: RoomID) async throws { try await rooms.invite(address, to: room) }

    public func topic(of room: RoomID) async throws -> String? { try await rooms.topic(of: room) }

    public func setTopic(_ topic: String?, of room: RoomID) async throws { try await rooms.setTopic(topic, of: room) }

    public func setDisplayName(_ name: String) async throws { try await rooms.setDisplayName(name) }
}

// MARK: Timelines

extension LocalBackend {
    public nonisolated func timeline(of room: RoomID, limit: Int) -> AsyncStream<TimelineUpdate> {
        let (stream, continuation) = AsyncStream.makeStream(of: TimelineUpdate.self, bufferingPolicy: .unbounded)
        Task { await timelines.open(room, limit: limit, with: continuation) }
        return stream
    }

    public func messages(in room: RoomID, before position: Int64, limit: Int) async throws -> TimelinePage {
        try await store.messages(in: room, before: position, limit: limit)
    }

    public func messages(in room: RoomID, after position: Int64, limit: Int) async throws -> TimelinePage {
        try await store.messages(in: room, after: position, limit: limit)
    }

    public func messages(in room: RoomID, around target: TimelineTarget, limit: Int) async throws -> TimelinePage {
        try await store.messages(in: room, around: target, limit: limit)
    }

    public func messages(_ ids: [MessageID], in room: RoomID) async throws -> [Message] {
        try await store.messages(ids, in: room)
    }

    public func scrollPosition(in room: RoomID) async throws -> ScrollPosition? {
        try await store.scrollPosition(in: room)
    }

    public func saveScrollPosition(_ position: ScrollPosition?, in room: RoomID) async throws {
        try await store.saveScrollPosition(position, in: room)
    }

    public func markRead(_ message: MessageID, in room: RoomID) async throws {
        try await timelines.markRead(message, in: room)
    }

    public func search(_ query: SearchQuery) async throws -> SearchPage { try await store.search(query) }

    public func members(named name: String) async throws -> Set<MemberID> { try await store.members(named: name) }
}

// MARK: Messages

extension LocalBackend {
    @discardableResult
    public func send(
        _ message: WrittenMessage, as transaction: TransactionID, to room: RoomID
    ) async throws -> Message {
        let sent = try await messages.send([(transaction, message)], to: room, leaving: nil)[0]
        await timelines.noteSending(in: room)
        return sent
    }

    public func send(
        _ messages: [(transaction: TransactionID, message: WrittenMessage)], to room: RoomID, leaving draft: SavedDraft?
    ) async throws {
        guard !messages.isEmpty else { return }
        _ = try await self.messages.send(messages, to: room, leaving: draft)
        await timelines.noteSending(in: room)
    }

    public func edit(_ message: MessageID, in room: RoomID, to text: WrittenText) async throws {
        try await messages.edit(message, in: room, to: text)
    }

    /// No-op, like ``discard(_:in:)``: messages are stored or rejected immediately, so none are queued.
    public func retry(_ transaction: TransactionID?, in room: RoomID) async throws {}
    public func discard(_ transaction: TransactionID?, in room: RoomID) async throws {}

    public func delete(_ message: MessageID, in room: RoomID) async throws {
        try await messages.delete(message, in: room)
    }

    public func react(_ text: String, isAdded: Bool, to message: MessageID, in room: RoomID) async throws {
        try await messages.react(text, isAdded: isAdded, to: message, in: room)
    }

    public func revisions(of message: MessageID, in room: RoomID) async throws -> [MessageRevision] {
        try await store.revisions(of: message, in: room)
    }

    /// No-op: there is nobody to notify, and the guide responds only to messages.
    public func setTyping(_ isTyping: Bool, in room: RoomID) async {}

    public func draft(in room: RoomID) async throws -> SavedDraft? { try await store.draft(in: room) }

    public func writingLanguages(in room: RoomID) async throws -> [String]? {
        try await store.writingLanguages(in: room)
    }

    public func saveWritingLanguages(_ languages: [String]?, in room: RoomID) async throws {
        try await store.saveWritingLanguages(languages, in: room)
    }

    public func saveDraft(_ draft: SavedDraft?, in room: RoomID) async throws {
        try await messages.saveDraft(draft, in: room)
    }
}

// MARK: Media

extension LocalBackend {
    public nonisolated func storeMedia(
        _ content: MediaContent, named name: String, type: String, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> MediaReference {
        try await media.store(content, named: name, type: type, progress: progress)
    }

    public nonisolated func content(of reference: MediaReference) async throws -> URL {
        try media.content(of: reference)
    }

    public nonisolated func namedFile(of reference: MediaReference) async throws -> URL {
        try await media.namedFile(of: reference)
    }
}

// MARK: Imports

extension LocalBackend: ImportService {
    public var importingMember: Member { profile.member }

    public func startImport(of source: String?) async throws -> RoomID { try await imports.start(of: source) }

    public func addImported(
        _ messages: [ImportedMessage], by members: [Member], to room: RoomID
    ) async throws -> Int {
        try await imports.add(messages, by: members, to: room)
    }

    public func applyImported(
        _ changes: [ImportedChange], by members: [Member], to room: RoomID
    ) async throws -> [ImportedChange] {
        try await imports.apply(changes, by: members, to: room)
    }

    public func earlierImports(of rooms: [RoomID]) async throws -> [EarlierImport] {
        try await store.earlierImports(of: rooms)
    }

    public func finishImport(_ rooms: [FinishedImport]) async throws -> [RoomID: Int] {
        try await imports.finish(rooms)
    }

    public func discardImport(_ rooms: [RoomID]) async { await imports.discard(rooms) }
}
