import ChatCore
import Composer
import Foundation

@testable import MatrixBackend

/// A Matrix backend whose calls return only once the sync has delivered their effects, as with a local backend.
struct SyncedBackend: ChatService {
    let user: MatrixUser

    private var backend: MatrixBackend { user.backend }

    func send(_ message: WrittenMessage, as transaction: TransactionID, to room: RoomID) async throws -> Message {
        try await backend.send(message, as: transaction, to: room)
        return try await user.syncedMessage(transaction, in: room)
    }

    func send(
        _ messages: [(transaction: TransactionID, message: WrittenMessage)], to room: RoomID, leaving draft: SavedDraft?
    ) async throws {
        try await backend.send(messages, to: room, leaving: draft)
        for (transaction, _) in messages { _ = try await user.syncedMessage(transaction, in: room) }
    }

    func excess(of message: WrittenMessage, isEdit: Bool, in room: RoomID) -> Int {
        backend.excess(of: message, isEdit: isEdit, in: room)
    }

    func edit(_ message: MessageID, in room: RoomID, to text: WrittenText) async throws {
        try await backend.edit(message, in: room, to: text)
        try await waitForSync(message, in: room) { $0.written == text.unlessBlank }
    }

    func delete(_ message: MessageID, in room: RoomID) async throws {
        try await backend.delete(message, in: room)
        try await waitForSync(message, in: room) { $0.isDeleted }
    }

    func react(_ text: String, isAdded: Bool, to message: MessageID, in room: RoomID) async throws {
        try await backend.react(text, isAdded: isAdded, to: message, in: room)
        try await waitForSync(message, in: room) { message in message.reactions.contains { $0.text == text } == isAdded
        }
    }

    func retry(_ transaction: TransactionID?, in room: RoomID) async throws {
        try await backend.retry(transaction, in: room)
    }

    func discard(_ transaction: TransactionID?, in room: RoomID) async throws {
        try await backend.discard(transaction, in: room)
    }

    private func waitForSync(
        _ id: MessageID, in room: RoomID, where condition: @escaping (Message) -> Bool
    ) async throws {
        try await user.messages(in: room) { messages in
            messages.first { $0.id == id }.map { $0.pendingChange == nil && condition($0) } ?? false
        }
    }

    func createRoom(named name: String) async throws -> RoomID {
        let room = try await backend.createRoom(named: name)
        // Wait for the room's first sync, which sets the user's name and could otherwise interfere with a test case.
        for await update in backend.timeline(of: room, limit: 1) {
            let members: [Member]? =
                switch update {
                case .opened(_, let members, _), .members(let members), .membersChanged(let members): members
                default: nil
                }
            if members?.contains(where: { $0.id == backend.ownUserID && $0.displayName != $0.id.rawValue }) == true {
                break
            }
        }
        return room
    }

    var capabilities: BackendCapabilities { backend.capabilities }
    func roomSummaries() -> AsyncStream<[RoomSummary]> { backend.roomSummaries() }
    func renameRoom(_ room: RoomID, to name: String) async throws { try await backend.renameRoom(room, to: name) }
    func leaveRoom(_ room: RoomID) async throws { try await backend.leaveRoom(room) }
    func removeMember(_ member: MemberID, from room: RoomID) async throws {
        try await backend.removeMember(member, from: room)
    }
    func setMarkedUnread(_ isMarkedUnread: Bool, in room: RoomID) async throws {
        try await backend.setMarkedUnread(isMarkedUnread, in: room)
    }
    func markAllRead(in room: RoomID) async throws { try await backend.markAllRead(in: room) }
    func timeline(of room: RoomID, limit: Int) -> AsyncStream<TimelineUpdate> {
        backend.timeline(of: room, limit: limit)
    }
    func messages(in room: RoomID, before position: Int64, limit: Int) async throws -> TimelinePage {
        try await backend.messages(in: room, before: position, limit: limit)
    }
    func messages(in room: RoomID, after position: Int64, limit: Int) async throws -> TimelinePage {
        try await backend.messages(in: room, after: position, limit: limit)
    }
    func messages(in room: RoomID, around target: TimelineTarget, limit: Int) async throws -> TimelinePage {
        try await backend.messages(in: room, around: target, limit: limit)
    }
    func messages(_ ids: [MessageID], in room: RoomID) async throws -> [Message] {
        try await backend.messages(ids, in: room)
    }
    func markRead(_ message: MessageID, in room: RoomID) async throws { try await backend.markRead(message, in: room) }
    func setTyping(_ isTyping: Bool, in room: RoomID) async { await backend.setTyping(isTyping, in: room) }
    func draft(in room: RoomID) async throws -> SavedDraft? { try await backend.draft(in: room) }
    func writingLanguages(in room: RoomID) async throws -> [String]? { try await backend.writingLanguages(in: room) }
    func saveWritingLanguages(_ languages: [String]?, in room: RoomID) async throws {
        try await backend.saveWritingLanguages(languages, in: room)
    }
    func saveDraft(_ draft: SavedDraft?, in room: RoomID) async throws { try await backend.saveDraft(draft, in: room) }
    func scrollPosition(in room: RoomID) async throws -> ScrollPosition? { try await backend.scrollPosition(in: room) }
    func saveScrollPosition(_ place: ScrollPosition?, in room: RoomID) async throws {
        try await backend.saveScrollPosition(place, in: room)
    }
    func storeMedia(
        _ content: MediaContent, named name: String, type: String, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> MediaReference {
        try await backend.storeMedia(content, named: name, type: type, progress: progress)
    }
    func content(of media: MediaReference) async throws -> URL { try await backend.content(of: media) }
    func thumbnail(of media: MediaReference, fitting width: Int, by height: Int) async throws -> URL {
        try await backend.thumbnail(of: media, fitting: width, by: height)
    }
    func namedFile(of media: MediaReference) async throws -> URL { try await backend.namedFile(of: media) }
    func revisions(of message: MessageID, in room: RoomID) async throws -> [MessageRevision] {
        try await backend.revisions(of: message, in: room)
    }
    func search(_ query: SearchQuery) async throws -> SearchPage { try await backend.search(query) }
    func members(named name: String) async throws -> Set<MemberID> { try await backend.members(named: name) }
}
