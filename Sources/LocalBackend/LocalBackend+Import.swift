public import ChatCore
import ChatStore
import Foundation

extension LocalBackend: ImportService {
    /// The number of messages published when a timeline is reopened.
    private static let pageAnew = 100

    public var importingMember: Member { Member(id: Self.ownUserID, displayName: ownDisplayName, kind: .own) }

    public func startImport(of source: String?) async throws -> RoomID {
        let room = Room(id: RoomID(makeID()), name: translator("Imported"), kind: .group)
        try await store.createStagedRoom(
            NewRoom(
                room: room, members: [importingMember], createdAt: Date(timeIntervalSince1970: 0),
                settings: source.map { [ChatStore.importSource: $0] } ?? [:]))
        return room.id
    }

    /// Not serialized: nobody observes a staged room, and other operations need not wait.
    public func addImported(
        _ messages: [ImportedMessage], by members: [Member], to room: RoomID
    ) async throws -> Int {
        let new = messages.map { message in
            NewMessage(
                id: message.id, sender: message.sender, text: message.text.text, sentAt: message.sentAt,
                replyTo: message.replyTo, kind: message.kind, formattedText: message.text.html,
                written: message.text.written,
                attachments: message.attachments)
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

    public func earlierImports(of rooms: [RoomID]) async throws -> [EarlierImport] {
        try await store.earlierImports(of: rooms)
    }

    public func finishImport(_ rooms: [FinishedImport]) async throws -> [RoomID: Int] {
        try await serialized {
            let added = try await store.showStagedRooms(rooms)
            for room in rooms { if let target = room.mergedInto { try await republish(target) } }
            roomsChanged()
            return added
        }
    }

    /// Merged messages may be anywhere in the timeline, so observers reopen it.
    private func republish(_ room: RoomID) async throws {
        guard timelines[room] != nil, let snapshot = try await store.snapshot(of: room, limit: Self.pageAnew) else {
            return
        }
        publish(.opened(snapshot.page, members: snapshot.members, fullyReadMarker: snapshot.fullyReadMarker), in: room)
    }

    public func discardImport(_ rooms: [RoomID]) async {
        // Detached, because a canceled task could not write. Rooms that cannot be removed are removed at the next
        // start.
        let store = store
        await Task.detached { for room in rooms { try? await store.removeStagedRoom(room) } }.value
    }
}
