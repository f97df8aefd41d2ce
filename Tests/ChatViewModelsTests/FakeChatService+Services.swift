import ChatCore
import ChatTestSupport
import Composer

extension FakeChatService: ChatService {
    nonisolated func roomSummaries() -> AsyncStream<[RoomSummary]> { rooms.stream }

    @MainActor func createRoom(named name: String) async throws -> RoomID {
        try await record(.create(name))
        return RoomID(name)
    }

    @MainActor func renameRoom(_ room: RoomID, to name: String) async throws { try await record(.rename(room, name)) }
    @MainActor func leaveRoom(_ room: RoomID) async throws { try await record(.leave(room)) }
    nonisolated func unsentOfLeftRooms() -> AsyncStream<UnsentContent> { unsent.stream }
    nonisolated func roomRemovals() -> AsyncStream<RoomRemoval> { removals.stream }
    @MainActor func removeMember(_ member: MemberID, from room: RoomID) async throws {
        try await record(.remove(member, room))
    }
    @MainActor func setMarkedUnread(_ isMarkedUnread: Bool, in room: RoomID) async throws {
        try await record(.setMarkedUnread(room, isMarkedUnread))
    }
    @MainActor func markAllRead(in room: RoomID) async throws { try await record(.markAllRead(room)) }

    nonisolated func notificationSettings() -> AsyncStream<NotificationSettings> { notifications.stream }
    @MainActor func setNotificationRule(_ rule: RoomNotificationRule?, of room: RoomID) async throws {
        try await record(.notify(rule, room))
    }

    nonisolated func invitations() -> AsyncStream<[Invitation]> { invited.stream }
    nonisolated func arrivals() -> AsyncStream<MessageArrival> { arriving.stream }
    @MainActor func accept(_ invitation: RoomID) async throws { try await record(.accept(invitation)) }
    @MainActor func decline(_ invitation: RoomID) async throws { try await record(.decline(invitation)) }

    nonisolated func timeline(of room: RoomID, limit: Int) -> AsyncStream<TimelineUpdate> {
        MainActor.assumeIsolated { openTimeline(room) }
    }

    @MainActor func messages(in room: RoomID, before position: Int64, limit: Int) async throws -> TimelinePage {
        let page = pages(position, limit)
        try await record(.page(before: position))
        return page
    }

    @MainActor func messages(in room: RoomID, after position: Int64, limit: Int) async throws -> TimelinePage {
        let page = pagesAfter(position, limit)
        try await record(.pageAfter(position))
        return page
    }

    @MainActor func messages(
        in room: RoomID, around target: TimelineTarget, limit: Int
    ) async throws -> TimelinePage {
        let page = pagesAround(target, limit)
        try await record(.pageAround(target))
        guard let page else { throw ChatError.notFound }
        return page
    }

    @MainActor func messages(_ ids: [MessageID], in room: RoomID) async throws -> [Message] {
        let found = ids.compactMap(known)
        try await record(.quoted(ids))
        return found
    }

    func succession(of room: RoomID) async throws -> RoomSuccession { successions[room] ?? RoomSuccession() }
    func headline(of room: RoomID) async throws -> RoomHeadline { headlines[room] ?? RoomHeadline() }
    @MainActor func isEncrypted(_ room: RoomID) async throws -> Bool { try await encryption(room) }

    @MainActor func confirmsUnencrypted(_ room: RoomID) async throws -> Bool { try await confirmingUnencrypted() }

    @MainActor func join(_ address: String) async throws -> RoomID { try await joining(address) }

    @MainActor func enableEncryption(in room: RoomID) async throws { try await record(.encrypt(room)) }
    @MainActor func react(_ text: String, isAdded: Bool, to message: MessageID, in room: RoomID) async throws {
        try await record(.react(text, message, isAdded: isAdded))
    }

    @MainActor func scrollPosition(in room: RoomID) async throws -> ScrollPosition? { places[room] }

    @MainActor func saveScrollPosition(_ place: ScrollPosition?, in room: RoomID) async throws {
        try await record(.savePlace(place))
        places[room] = place
    }

    @MainActor func markRead(_ message: MessageID, in room: RoomID) async throws {
        try await record(.markRead(message))
    }

    @MainActor func send(
        _ message: WrittenMessage, as transaction: TransactionID, to room: RoomID
    ) async throws -> Message {
        onSend(message)
        try await record(.send(message.text.source, transaction))
        if message.removesDraft { drafts[room] = nil }
        return Fixtures.message(1, in: room.rawValue, text: message.text.source)
    }

    @MainActor func send(
        _ messages: [(transaction: TransactionID, message: WrittenMessage)], to room: RoomID, leaving draft: SavedDraft?
    ) async throws {
        batches.append(messages.map(\.message.text.source))
        for (transaction, message) in messages { _ = try await send(message, as: transaction, to: room) }
        if messages.contains(where: { $0.message.removesDraft }) { drafts[room] = draft }
    }

    @MainActor func edit(_ message: MessageID, in room: RoomID, to text: WrittenText) async throws {
        try await record(.edit(message, text.source))
    }

    @MainActor func retry(_ transaction: TransactionID?, in room: RoomID) async throws {
        try await record(.retry(transaction))
    }
    @MainActor func discard(_ transaction: TransactionID?, in room: RoomID) async throws {
        try await record(.discard(transaction))
    }
    @MainActor func delete(_ message: MessageID, in room: RoomID) async throws { try await record(.delete(message)) }
    /// Reports no error, as in a backend.
    @MainActor func setTyping(_ isTyping: Bool, in room: RoomID) async { try? await record(.typing(isTyping)) }

    @MainActor func draft(in room: RoomID) async throws -> SavedDraft? {
        try await record(.draft(room))
        return drafts[room]
    }

    @MainActor func writingLanguages(in room: RoomID) async throws -> [String]? { writingLanguages[room] }
    @MainActor func saveWritingLanguages(_ languages: [String]?, in room: RoomID) async throws {
        writingLanguages[room] = languages
    }

    @MainActor func saveDraft(_ draft: SavedDraft?, in room: RoomID) async throws {
        try await record(.saveDraft(draft?.preview))
        drafts[room] = draft
    }

    nonisolated func excess(of message: WrittenMessage, isEdit: Bool, in room: RoomID) -> Int {
        message.text.source.utf8.count * (isEdit ? 2 : 1) - maxBytes
    }

    @MainActor func members(of room: RoomID) async throws -> RoomMembers { try await rosters(room) }

    @MainActor func search(_ query: SearchQuery) async throws -> SearchPage {
        let page = searchPages(query)
        try await record(.search(query))
        return page
    }

    @MainActor func members(named name: String) async throws -> Set<MemberID> {
        try await record(.membersNamed(name))
        return named[name] ?? []
    }
}
