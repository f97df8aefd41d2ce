import ChatCore
import ChatStore
import JSONReading

/// Rooms' names and topics, and the user's display name.
struct RoomSettings: Sendable {
    /// The value of a part of a room's state, and the event that has set it.
    private struct Part: Equatable {
        let value: String?
        let origin: MessageID?
    }

    private static let types = (name: "m.room.name", topic: "m.room.topic")

    let client: MatrixClient
    let writer: RoomWriter
    let status: SyncStatus
    /// One change at a time: of two requests under way, the server may get the later one first.
    private let stateGate = SerialGate()
    private let profileGate = SerialGate()

    private var store: ChatStore { writer.store }

    init(client: MatrixClient, writer: RoomWriter, status: SyncStatus) {
        self.client = client
        self.writer = writer
        self.status = status
    }

    func rename(_ room: RoomID, to name: String) async throws {
        guard let name = ChatLimits.roomName(from: name) else { throw ChatError.invalidName }
        try await stateGate.run {
            let before = try await self.name(of: room)
            let event = try await asking {
                try await client.setState(Self.types.name, ["name": .string(name)], of: room)
            }
            try await writer.serialized {
                // What a sync has reported since may be later. If it is earlier, another sync reports this name.
                guard try await self.name(of: room) == before else { return }
                try await store.updateRoomState(of: room) { $0.name = name }
                try await store.renameRoom(room, to: name)
                if name != before.value { note(event, Self.types.name, in: room) }
                writer.rooms.refresh(room)
            }
        }
    }

    func setTopic(_ topic: String?, of room: RoomID) async throws {
        let topic = try ChatLimits.topic(from: topic)
        try await stateGate.run {
            let before = try await self.topic(of: room)
            let event = try await asking {
                try await client.setState(Self.types.topic, ["topic": .string(topic ?? "")], of: room)
            }
            // As for the name.
            try await writer.serialized {
                guard try await self.topic(of: room) == before else { return }
                try await store.updateRoomState(of: room) { $0.topic = topic }
                if topic != before.value { note(event, Self.types.topic, in: room) }
            }
        }
    }

    private func name(of room: RoomID) async throws -> Part {
        Part(value: try await store.roomState(of: room).name, origin: try await origin(Self.types.name, of: room))
    }

    private func topic(of room: RoomID) async throws -> Part {
        Part(value: try await store.roomState(of: room).topic, origin: try await origin(Self.types.topic, of: room))
    }

    private func origin(_ type: String, of room: RoomID) async throws -> MessageID? {
        try await store.stateOrigin(of: StateOrigin.Subject(type: type, key: ""), in: room)
    }

    /// Call it only for what has changed: otherwise the server may name an event that a sync has brought long ago.
    private func note(_ event: MessageID?, _ type: String, in room: RoomID) {
        if let event { writer.sentState.note(event, type, in: room, during: status.count) }
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
