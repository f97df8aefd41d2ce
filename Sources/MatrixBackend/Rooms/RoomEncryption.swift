import ChatCore
import ChatStore

/// Determines whether rooms are encrypted, from the store or else by asking the server.
struct RoomEncryption: Sendable {
    let client: MatrixClient
    let store: ChatStore
    /// Whether the sync has caught up.
    let syncStatus: SyncStatus

    /// Whether a room is encrypted, for display. Sending requires ``isCertainlyOff(in:)``.
    func isOn(in room: RoomID) async throws -> Bool {
        switch try await store.roomState(of: room).encryption {
        case .on: return true
        case .off: return false
        case .unknown:
            let isOn = try await asking { try await client.state("m.room.encryption", of: room) != nil }
            // Encryption is final, whereas the next sync may correct a negative answer.
            if isOn { try await store.updateRoomState(of: room) { $0.encryption = .on } }
            return isOn
        }
    }

    /// Rejects at once what could only be sent unencrypted into an encrypted room. Whether it may then be sent is
    /// decided by ``isCertainlyOff(in:)``.
    func rejectIfKnown(in room: RoomID) async throws {
        if try await store.roomState(of: room).encryption == .on { throw ChatError.notPermitted }
    }

    /// Whether a room is not encrypted now, so that something may be sent into it.
    func isCertainlyOff(in room: RoomID) async throws -> Bool {
        var encryption = try await store.roomState(of: room).encryption
        // Until the sync has caught up, the room may have been encrypted in the meantime.
        if encryption == .unknown || encryption == .off && !syncStatus.hasCaughtUp {
            let found: RoomState.Encryption = try await client.state("m.room.encryption", of: room) == nil ? .off : .on
            // A sync that learned of encryption meanwhile prevails: the store never turns it off.
            if found != encryption { try await store.updateRoomState(of: room) { $0.encryption = found } }
            encryption = found
        }
        return encryption == .off
    }
}
