import ChatCore
import ChatStore
import Foundation

/// Imports conversations into rooms that stay hidden until they are complete.
struct LocalImport: Sendable {
    let store: ChatStore
    let gate: SerialGate
    let timelines: LocalTimelines
    let profile: OwnProfile
    let translator: Translator
    let makeID: @Sendable () -> String

    func start(of source: String?) async throws -> RoomID {
        let room = Room(id: RoomID(makeID()), name: translator("Imported"), kind: .group)
        try await store.createStagedRoom(
            NewRoom(
                room: room, members: [profile.member], createdAt: Date(timeIntervalSince1970: 0),
                settings: source.map { [ChatStore.importSource: $0] } ?? [:]))
        return room.id
    }

    /// Bypasses the gate, as ``apply(_:by:to:)`` does: nobody observes a staged room, and nothing else need wait.
    func add(_ messages: [ImportedMessage], by members: [Member], to room: RoomID) async throws -> Int {
        let new = messages.map { message in
            NewMessage(
                id: message.id, sender: message.sender, text: message.text.text, sentAt: message.sentAt,
                replyTo: message.replyTo, kind: message.kind, formattedText: message.text.html,
                written: message.text.written, attachments: message.attachments)
        }
        let edited = messages.compactMap { message in message.editedAt.map { (message.id, $0) } }
        return try await store.addStaged(
            new, edited: Dictionary(edited, uniquingKeysWith: { $1 }), by: members, to: room)
    }

    func apply(
        _ changes: [ImportedChange], by members: [Member], to room: RoomID
    ) async throws -> [ImportedChange] {
        try await store.changeStaged(changes, by: members, in: room)
    }

    func finish(_ rooms: [FinishedImport]) async throws -> [RoomID: Int] {
        try await gate.run {
            let added = try await store.showStagedRooms(rooms)
            // Merged messages may be anywhere in the timeline.
            for room in rooms.compactMap(\.mergedInto) { try await timelines.reopen(room) }
            timelines.rooms.refresh()
            return added
        }
    }

    func discard(_ rooms: [RoomID]) async {
        // Detached, because a canceled task could not write.
        await Task.detached { [store] in
            for room in rooms {
                // A room that cannot be removed stays invisible, and the next start tries again.
                try? await store.removeStagedRoom(room)
            }
        }.value
    }
}
