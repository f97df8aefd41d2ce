import ChatCore
import ChatOutbox
import ChatStore
import JSONReading
import MatrixCrypto

/// Determines whether a room is encrypted: from the permanent record, the history, or else the server.
struct RoomEncryption: Sendable {
    let client: MatrixClient
    let store: ChatStore
    let keys: AccountEncryption
    /// Whether the sync has caught up.
    let syncStatus: SyncStatus
    /// That of the ``RoomWriter``: a sync stores the state of a room that it has read before.
    let gate: SerialGate

    /// How an event is sent into a room.
    enum Way: Sendable {
        case clear, sealed
    }

    /// Returns how events have to be sent into a room.
    /// - Throws: If this cannot be determined. Nothing may then be sent.
    func way(into room: RoomID) async throws -> Way {
        let switches = await keys.switchCount
        guard await !keys.roomsBeingEncrypted.contains(room) else { throw DeliveryError.unreachable }
        if try await keys.isEncrypted(room) { return .sealed }
        if try await isCertainlyOff(in: room, since: switches) {
            // A sync may have recorded it since; what the server has answered may be older than that.
            return try await keys.isEncrypted(room) ? .sealed : .clear
        }
        try await keys.noteEncrypted([(ExactText(room.rawValue), .null)])
        return .sealed
    }

    /// Whether a room is known to be encrypted.
    func isKnownOn(in room: RoomID) async throws -> Bool {
        if try await keys.isEncrypted(room) { return true }
        guard try await store.roomState(of: room).encryption == .on else { return false }
        keys.noteKnown(room)
        return true
    }

    /// Whether to display a room as encrypted. For sending, use ``way(into:)``.
    func isOn(in room: RoomID) async throws -> Bool {
        if try await keys.isEncrypted(room) { return true }
        switch try await store.roomState(of: room).encryption {
        case .on:
            keys.noteKnown(room)
            return true
        case .off: return false
        case .unknown:
            let isOn = try await asking { try await client.state("m.room.encryption", of: room) != nil }
            // Encryption is final, whereas the next sync may correct a negative answer.
            if isOn { try await store.updateRoomState(of: room) { $0.encryption = .on } }
            return isOn
        }
    }

    /// Whether it is certain that a room is not encrypted, so that what is written there may be disclosed.
    /// - Throws: If this cannot be determined.
    func isCertainlyOff(in room: RoomID) async throws -> Bool {
        try await asking { try await way(into: room) == .clear }
    }

    /// Rejects a message that can never be sent from this device, so that it stays a draft.
    func rejectIfUnsendable(in room: RoomID) async throws {
        if keys.obstacle != nil, try await isKnownOn(in: room) { throw ChatError.notPermitted }
    }

    /// Whether both the history and the server say that the room is not encrypted.
    /// - Parameter switches: ``AccountEncryption/switchCount`` before anything was read.
    /// - Throws: Also if enabling the encryption of a room began meanwhile.
    private func isCertainlyOff(in room: RoomID, since switches: Int) async throws -> Bool {
        // Read the status before the store: a sync that catches up in between may store what was not read.
        let hasCaughtUp = syncStatus.hasCaughtUp
        var encryption = try await store.roomState(of: room).encryption
        // Until the sync has caught up, the room may have been encrypted in the meantime.
        if encryption == .unknown || encryption == .off && !hasCaughtUp {
            let found: RoomState.Encryption = try await client.state("m.room.encryption", of: room) == nil ? .off : .on
            if found != encryption { try await note(found, of: room, since: switches) }
            // A sync that learned of encryption meanwhile prevails: the store never turns it off.
            let isOn = try await store.roomState(of: room).encryption == .on
            encryption = isOn ? .on : found
        }
        guard encryption == .off else { return false }
        guard await keys.switchCount == switches else {
            // The server may have answered before that.
            try await gate.runEvenIfCanceled {
                try await store.updateRoomState(of: room) { if $0.encryption == .off { $0.encryption = .unknown } }
            }
            throw DeliveryError.unreachable
        }
        return true
    }

    /// Stores what the server has answered. That there is no encryption proves nothing once enabling it has begun: it must
    /// not replace the unknown encryption that is stored then.
    private func note(_ found: RoomState.Encryption, of room: RoomID, since switches: Int) async throws {
        try await gate.runEvenIfCanceled {
            let isCurrent = await keys.switchCount == switches
            guard isCurrent || found == .on else { return }
            try await store.updateRoomState(of: room) { $0.encryption = found }
        }
    }
}
