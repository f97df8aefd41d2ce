import ChatCore
import ChatStore
import JSONReading

/// Permanently enables a room's encryption.
struct EncryptionSwitch: Sendable {
    private static let setting = "m.room.encryption"

    let client: MatrixClient
    let keys: AccountEncryption
    let writer: RoomWriter

    private var store: ChatStore { writer.store }

    func enable(in room: RoomID) async throws {
        try keys.requireEncryption()
        try await store.requireRoom(room)
        try await keys.encrypting(room) {
            // If the response is lost, the server is asked before anything is sent. Serialized: a sync stores the state that
            // it has read before.
            try await writer.serialized {
                try await store.updateRoomState(of: room) { if $0.encryption == .off { $0.encryption = .unknown } }
            }
            _ = try await asking { try await client.setState(Self.setting, AccountEncryption.settings, of: room) }
            try await keys.noteEncrypted(new: room)
        }
        try await writer.serialized {
            try await store.updateRoomState(of: room) { $0.encryption = .on }
            writer.timelines.publish(.encrypted, in: room)
        }
    }
}
