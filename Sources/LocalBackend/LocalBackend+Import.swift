public import ChatCore
import ChatStore
import Foundation

extension LocalBackend: ImportService {
    public var importingMember: Member { Member(id: Self.ownID, displayName: ownName, kind: .own) }

    public func beginImport() async throws -> RoomID {
        let room = Room(id: RoomID(makeID()), name: translator("Imported"), kind: .group)
        try await store.createStagedRoom(
            NewRoom(room: room, members: [importingMember], createdAt: Date(timeIntervalSince1970: 0)))
        return room.id
    }

    /// Not in turn: nobody follows the room yet, and what is being said elsewhere need not wait.
    public func addImported(
        _ messages: [ImportedMessage], by members: [Member], to room: RoomID
    ) async throws -> Int {
        let new = messages.map { message in
            NewMessage(
                id: message.id, sender: message.sender, text: message.text, sentAt: message.sentAt,
                replyTo: message.replyTo, kind: message.kind, attachments: message.attachments)
        }
        let edited = messages.compactMap { message in message.editedAt.map { (message.id, $0) } }
        return try await store.addStaged(
            new, edited: Dictionary(edited, uniquingKeysWith: { $1 }), by: members, to: room)
    }

    public func applyImported(
        _ changes: [ImportedChange], by members: [Member], to room: RoomID
    ) async throws -> [ImportedChange] {
        try await store.changeStaged(changes, by: members, in: room)
    }

    public func finishImport(_ rooms: [(room: RoomID, name: String)]) async throws {
        try await inTurn {
            try await store.showStagedRooms(rooms)
            roomsChanged()
        }
    }

    public func discardImport(_ rooms: [RoomID]) async {
        // A task that was cancelled could not write any more. What cannot be removed now is at the next start.
        let store = store
        await Task.detached { for room in rooms { try? await store.removeStagedRoom(room) } }.value
    }
}
