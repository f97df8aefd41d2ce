import ChatCore
import ChatStore
import JSONReading

/// Rooms' names and topics, and the user's display name.
struct RoomSettings: Sendable {
    let client: MatrixClient
    let writer: RoomWriter
    /// One change at a time: of two requests under way, the server may get the later one first.
    private let stateGate = SerialGate()
    private let profileGate = SerialGate()

    private var store: ChatStore { writer.store }

    init(client: MatrixClient, writer: RoomWriter) {
        self.client = client
        self.writer = writer
    }

    func rename(_ room: RoomID, to name: String) async throws {
        guard let name = ChatLimits.roomName(from: name) else { throw ChatError.invalidName }
        try await stateGate.run {
            let before = try await store.roomState(of: room).name
            try await asking { try await client.setState("m.room.name", ["name": .string(name)], of: room) }
            try await writer.serialized {
                // What a sync has reported since may be later. If it is earlier, another sync reports this name.
                guard try await store.roomState(of: room).name == before else { return }
                try await store.updateRoomState(of: room) { $0.name = name }
                try await store.renameRoom(room, to: name)
                writer.rooms.refresh(room)
            }
        }
    }

    func setTopic(_ topic: String?, of room: RoomID) async throws {
        let topic = try ChatLimits.topic(from: topic)
        try await stateGate.run {
            let before = try await store.roomState(of: room).topic
            try await asking { try await client.setState("m.room.topic", ["topic": .string(topic ?? "")], of: room) }
            // As for the name.
            try await writer.serialized {
                try await store.updateRoomState(of: room) { if $0.topic == before { $0.topic = topic } }
            }
        }
    }

    func setDisplayName(_ name: String) async throws {
        guard let name = ChatLimits.displayName(from: name) else { throw ChatError.invalidDisplayName }
        try await profileGate.run {
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
}
