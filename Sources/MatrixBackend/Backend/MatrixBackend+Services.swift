public import ChatCore
import ChatStore
public import Composer
public import Foundation

// The methods of the service protocols, which forward to the objects that do the work.

extension MatrixBackend: ChatService {
    public nonisolated var capabilities: BackendCapabilities {
        [
            .topic, .displayName, .invite, .join, .reactions, .editHistory, .linkPreviews, .links, .memberList,
            .userDirectory, .plainTexts, .notificationSettings, .typingEnds,
        ]
    }
}

// MARK: Rooms

extension MatrixBackend {
    public nonisolated func roomSummaries() -> AsyncStream<[RoomSummary]> { writer.rooms.summaries() }

    /// Creates an invite-only room, which is encrypted if the account can encrypt.
    @discardableResult
    public func createRoom(named name: String) async throws -> RoomID {
        try await entry.create(RoomRequest(name: name, isEncrypted: keys.condition == .on))
    }

    @discardableResult
    public func createRoom(_ request: RoomRequest) async throws -> RoomID { try await entry.create(request) }

    /// Joins a room.
    /// - Parameter address: A room ID, an alias, `#name:server`, or a link to either.
    public func join(_ address: String) async throws -> RoomID { try await entry.join(address) }

    public func leaveRoom(_ room: RoomID) async throws { try await entry.leave(room) }

    public func pendingCount(in room: RoomID) async throws -> PendingCount { try await store.pendingCount(in: room) }

    public nonisolated func unsentOfLeftRooms() -> AsyncStream<UnsentContent> { store.unsentOfLeftRooms() }

    public nonisolated func roomRemovals() -> AsyncStream<RoomRemoval> { store.roomRemovals() }

    public func openDirect(with user: String) async throws -> RoomID { try await directChats.open(with: user) }

    public func enableEncryption(in room: RoomID) async throws { try await encryptionSwitch.enable(in: room) }

    public func renameRoom(_ room: RoomID, to name: String) async throws { try await settings.rename(room, to: name) }

    public func setTopic(_ topic: String?, of room: RoomID) async throws {
        try await settings.setTopic(topic, of: room)
    }

    public func setDisplayName(_ name: String) async throws { try await settings.setDisplayName(name) }

    public func topic(of room: RoomID) async throws -> String? { try await store.roomState(of: room).topic }

    public func headline(of room: RoomID) async throws -> RoomHeadline {
        let state = try await store.roomState(of: room)
        return RoomHeadline(
            topic: state.topic, memberCount: state.joinedCount,
            forbiddenMessages: PowerLevels(of: state).forbiddenMessages(for: ownUserID))
    }

    public func succession(of room: RoomID) async throws -> RoomSuccession {
        try await store.roomState(of: room).succession
    }

    public func setMarkedUnread(_ isMarkedUnread: Bool, in room: RoomID) async throws {
        try await timelines.setMarkedUnread(isMarkedUnread, in: room)
    }

    public func markAllRead(in room: RoomID) async throws { try await timelines.markAllRead(in: room) }

    public nonisolated func isEncrypted(_ room: RoomID) async throws -> Bool { try await encryption.isOn(in: room) }

    public nonisolated func confirmsUnencrypted(_ room: RoomID) async throws -> Bool {
        try await encryption.isCertainlyOff(in: room)
    }
}

// MARK: Members and invitations

extension MatrixBackend {
    public nonisolated func invitations() -> AsyncStream<[Invitation]> { writer.invitations.values() }

    public func accept(_ invitation: RoomID) async throws { try await entry.accept(invitation) }

    public func decline(_ invitation: RoomID) async throws { try await entry.decline(invitation) }

    public func users(matching text: String) async throws -> [User] { try await members.users(matching: text) }

    /// Requests the joined members and stores them, so name completion knows all of them.
    public func members(of room: RoomID) async throws -> RoomMembers { try await members.members(of: room) }

    /// Invites a user.
    /// - Parameter address: A user ID, `@name:server`.
    public func invite(_ address: String, to room: RoomID) async throws { try await members.invite(address, to: room) }

    /// Removes another member.
    /// - Throws: ``ChatError/notPermitted`` for the user, who leaves instead, or if the server denies it.
    public func removeMember(_ member: MemberID, from room: RoomID) async throws {
        try await members.remove(member, from: room)
    }
}

// MARK: Timelines

extension MatrixBackend {
    public nonisolated func timeline(of room: RoomID, limit: Int) -> AsyncStream<TimelineUpdate> {
        let (stream, continuation) = AsyncStream.makeStream(of: TimelineUpdate.self, bufferingPolicy: .unbounded)
        Task {
            await timelines.open(room, limit: limit, with: continuation)
            await unfetched.request(in: room)
        }
        return stream
    }

    public func messages(in room: RoomID, before position: Int64, limit: Int) async throws -> TimelinePage {
        let page = try await reader.messages(in: room, before: position, limit: limit)
        await unfetched.request(page, in: room)
        return page
    }

    public func messages(in room: RoomID, after position: Int64, limit: Int) async throws -> TimelinePage {
        let page = try await reader.messages(in: room, after: position, limit: limit)
        await unfetched.request(page, in: room)
        return page
    }

    public func messages(in room: RoomID, around target: TimelineTarget, limit: Int) async throws -> TimelinePage {
        let page = try await reader.messages(in: room, around: target, limit: limit)
        await unfetched.request(page, in: room)
        return page
    }

    public func messages(_ ids: [MessageID], in room: RoomID) async throws -> [Message] {
        try await reader.messages(ids, in: room)
    }

    public func fetchHistory(of room: RoomID, progress: @escaping @Sendable (Int) -> Void) async throws -> Int64? {
        let start = try await reader.fetchAll(of: room, progress: progress)
        try await unfetched.requestAll(in: room)
        return start
    }

    public func revisions(of message: MessageID, in room: RoomID) async throws -> [MessageRevision] {
        try await reader.revisions(of: message, in: room)
    }

    public func link(to message: MessageID, in room: RoomID) async throws -> String {
        try await reader.link(to: message, in: room)
    }

    public func markRead(_ message: MessageID, in room: RoomID) async throws {
        try await timelines.markRead(message, in: room)
    }

    public func scrollPosition(in room: RoomID) async throws -> ScrollPosition? {
        try await store.scrollPosition(in: room)
    }

    public func saveScrollPosition(_ position: ScrollPosition?, in room: RoomID) async throws {
        try await store.saveScrollPosition(position, in: room)
    }

    public func search(_ query: SearchQuery) async throws -> SearchPage { try await store.search(query) }

    public func members(named name: String) async throws -> Set<MemberID> { try await store.members(named: name) }
}

// MARK: Notifications

extension MatrixBackend {
    public nonisolated func arrivals() -> AsyncStream<MessageArrival> { arrivalFeed.arrivals() }

    public nonisolated func notificationSettings() -> AsyncStream<NotificationSettings> {
        context.notificationSettingsChanges()
    }

    public func setNotificationRule(_ rule: RoomNotificationRule?, of room: RoomID) async throws {
        try await store.requireRoom(room)
        try await notificationRules.set(rule, of: room)
    }

    public func addKeyword(_ keyword: String) async throws { try await notificationRules.add(keyword) }

    public func removeKeyword(_ keyword: String) async throws { try await notificationRules.remove(keyword) }
}

// MARK: Messages

extension MatrixBackend {
    /// Queues a message, which is published as a local echo when this returns. The sync later replaces it with the
    /// event under the server's ID.
    @discardableResult
    public func send(
        _ message: WrittenMessage, as transaction: TransactionID, to room: RoomID
    ) async throws -> Message {
        let sent = try await sender.send(message, as: transaction, to: room)
        await timelines.noteSending(in: room)
        return sent
    }

    public func send(
        _ messages: [(transaction: TransactionID, message: WrittenMessage)], to room: RoomID, leaving draft: SavedDraft?
    ) async throws {
        try await sender.send(messages, to: room, leaving: draft)
        if !messages.isEmpty { await timelines.noteSending(in: room) }
    }

    public nonisolated func excess(of message: WrittenMessage, isEdit: Bool, in room: RoomID) -> Int {
        sender.excess(of: message, isEdit: isEdit, isSealed: keys.isKnownEncrypted(room))
    }

    public func edit(_ message: MessageID, in room: RoomID, to text: WrittenText) async throws {
        try await sender.edit(message, in: room, to: text)
    }

    public func delete(_ message: MessageID, in room: RoomID) async throws {
        try await sender.delete(message, in: room)
    }

    /// Adds or removes the user's reaction.
    public func react(_ text: String, isAdded: Bool, to message: MessageID, in room: RoomID) async throws {
        try await sender.react(text, isAdded: isAdded, to: message, in: room)
    }

    public func retry(_ transaction: TransactionID?, in room: RoomID) async throws {
        try await sender.retry(transaction, in: room)
    }

    /// Discards queued or failed requests.
    public func discard(_ transaction: TransactionID? = nil, in room: RoomID) async throws {
        try await sender.discard(transaction, in: room)
    }

    public func setTyping(_ isTyping: Bool, in room: RoomID) async {
        guard privacy.current(of: ownUserID).sharesTyping else { return }
        // Typing is shown for seconds: it is not worth a retry.
        try? await client.setTyping(isTyping, by: ownUserID, in: room)
    }

    public func draft(in room: RoomID) async throws -> SavedDraft? { try await store.draft(in: room) }

    public func writingLanguages(in room: RoomID) async throws -> [String]? {
        try await store.writingLanguages(in: room)
    }

    public func saveWritingLanguages(_ languages: [String]?, in room: RoomID) async throws {
        try await store.saveWritingLanguages(languages, in: room)
    }

    public func saveDraft(_ draft: SavedDraft?, in room: RoomID) async throws {
        let revision = writer.rooms.revision
        guard try await store.saveDraft(draft, in: room) else { return }
        writer.rooms.update(room, since: revision) { $0.draftPreview = draft?.listedPreview }
    }
}

// MARK: Media

extension MatrixBackend {
    public nonisolated func storeMedia(
        _ content: MediaContent, named name: String, type: String, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> MediaReference {
        try await media.store(content, named: name, type: type, progress: progress)
    }

    public nonisolated func content(of reference: MediaReference) async throws -> URL {
        try await media.content(of: reference)
    }

    public nonisolated func cachedContent(of reference: MediaReference) async -> URL? {
        await media.cachedContent(of: reference)
    }

    public nonisolated func thumbnail(
        of reference: MediaReference, fitting width: Int, by height: Int
    ) async throws -> URL {
        try await media.thumbnail(of: reference, fitting: width, by: height)
    }

    public nonisolated func unencrypted(_ reference: MediaReference) async throws -> MediaReference {
        try await sender.uploads.copyingEncrypted(reference)
    }

    public nonisolated func namedFile(of reference: MediaReference) async throws -> URL {
        try await media.namedFile(of: reference)
    }

    public nonisolated func linkPreview(of address: String, in room: RoomID) async throws -> LinkPreview? {
        try await linkPreviews.preview(of: address, in: room)
    }
}
