import ChatCore
import ChatStore
import JSONReading

/// Rooms' names and topics, and the user's display name.
struct RoomSettings: Sendable {
    let client: MatrixClient
    let writer: RoomWriter

    private var store: ChatStore { writer.store }

    func rename(_ room: RoomID, to name: String) async throws {
        guard let name = ChatLimits.roomName(from: name) else { throw ChatError.invalidName }
        try await store.requireRoom(room)
        try await asking { try await client.setState("m.room.name", ["name": .string(name)], of: room) }
        try await writer.serialized {
            try await store.renameRoom(room, to: name)
            writer.rooms.refresh(room)
        }
    }

    func setTopic(_ topic: String?, of room: RoomID) async throws {
        let topic = try ChatLimits.topic(from: topic)
        try await store.requireRoom(room)
        try await asking { try await client.setState("m.room.topic", ["topic": .string(topic ?? "")], of: room) }
        try await writer.serialized {
            try await store.updateRoomState(of: room) { $0.topic = topic }
        }
    }

    func setDisplayName(_ name: String) async throws {
        guard let name = ChatLimits.displayName(from: name) else { throw ChatError.invalidDisplayName }
        try await asking { try await client.setDisplayName(name, of: writer.ownUserID) }
        writer.ownNames.publish(name)
        try await writer.serialized {
            for room in try await store.renameMember(writer.ownUserID, to: name) {
                guard let me = try await store.member(writer.ownUserID, of: room) else { continue }
                writer.timelines.publish([me], in: room)
            }
            writer.rooms.refresh()
        }
    }
}
