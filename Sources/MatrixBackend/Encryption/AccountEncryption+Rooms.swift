import ChatCore
import ChatOutbox
import ChatStore
import JSONReading
import MatrixCrypto
import Ratchets
import Synchronization

/// Which rooms are encrypted, and writing into them.
extension AccountEncryption {
    /// Whether a room was ever known to be encrypted here. It is read without the keys, which may be locked.
    /// - Throws: If that cannot be read: the room may be encrypted then.
    func isEncrypted(_ room: RoomID) async throws -> Bool { try await encryptedRoom(room) != nil }

    func encryptedRoom(_ room: RoomID) async throws -> EncryptedRoom? {
        guard let storage = try await roomStorage() else { return nil }
        let found = try await EncryptedRoom.stored(ExactText(room.rawValue), in: storage)
        if found != nil { noteKnown(room) }
        return found
    }

    /// Notes that rooms are encrypted, for good.
    func noteEncrypted(_ settings: [(room: ExactText, content: JSONValue)]) async throws {
        guard !settings.isEmpty, let storage = try await roomStorage() else { return }
        let time = now()
        try await roomGate.run { try await EncryptedRoom.note(settings, in: storage, at: time) }
        for (room, _) in settings { noteKnown(RoomID(room.text)) }
    }

    /// Notes that a room of this account is encrypted from its first event on.
    /// - Throws: If it could not be noted: nothing may be sent into the room before the sync says so.
    func noteEncrypted(new room: RoomID) async throws {
        guard try await roomStorage() != nil else { throw ChatError.encryptionUnavailable }
        try await noteEncrypted([(ExactText(room.rawValue), Self.settings)])
    }

    /// What `m.room.encryption` says of rooms that are encrypted here.
    static let settings: JSONValue = ["algorithm": .string(InboundSession.algorithm)]

    /// - Throws: ``ChatError/encryptionUnavailable`` while nothing can be encrypted.
    nonisolated func requireEncryption() throws(ChatError) {
        guard condition == .on else { throw .encryptionUnavailable }
    }

    nonisolated func noteKnown(_ room: RoomID) { knownRooms.withLock { _ = $0.insert(room) } }

    /// Whether a room is encrypted, by what was asked before: it takes no time, and proves nothing if it is not.
    nonisolated func isKnownEncrypted(_ room: RoomID) -> Bool { knownRooms.withLock { $0.contains(room) } }

    /// Takes what a sync says, before its rooms and its token are stored.
    /// - Throws: If it could not be stored, as on a full disk: the server sends it again.
    func take(_ update: SyncUpdate) async throws {
        do {
            try await noteEncrypted(update.encryptionSettings)
            try await noteMissedSync()
        } catch is StoreOpeningError {
            // Nothing is sent while that cannot be read; the history has it as well.
        } catch {
            try await end(for: error)
        }
        try await take(update.crypto)
        try await take(update.audienceNews)
    }

    /// Notes that without the keys nobody knows who comes and goes.
    func noteMissedSync() async throws {
        guard machine == nil, !hasMissedSync, let storage = try await roomStorage() else { return }
        try await CryptoMachine.noteMissedSync(in: storage)
        hasMissedSync = true
    }

    /// The server has removed a member, which a sync says later.
    func noteGone(_ member: MemberID, from room: RoomID) async throws {
        let gone = AudienceNews.Item.member(ExactText(member.rawValue), "leave")
        try await take([AudienceNews(room: ExactText(room.rawValue), items: [gone])])
    }

    private func take(_ news: [AudienceNews]) async throws {
        guard let machine else { return }
        do {
            try await machine.received(news)
        } catch {
            try await end(for: error)
        }
    }

    // MARK: Writing

    /// Encrypts a message, or says what it waits for.
    /// - Throws: ``DeliveryError`` if nothing can be encrypted, or another error if it could not be stored.
    func seal(_ type: String, _ content: [String: JSONValue], in room: RoomID) async throws -> CryptoMachine.Sealing {
        guard let machine else { throw deliveryErrorWithoutKeys }
        do {
            let sealing = try await machine.seal(type, content, in: ExactText(room.rawValue), at: now())
            if case .sealed = sealing {
                await wakeBackup()
                // Devices that do not get the key are told.
                await requests?.wake()
            }
            return sealing
        } catch {
            try await end(for: error)
        }
        throw deliveryErrorWithoutKeys
    }

    /// - Returns: `false` if they have to be asked for again.
    func setMembers(
        _ members: [ExactText: String], visibility: String?, of room: RoomID,
        since version: CryptoMachine.AudienceVersion
    ) async throws -> Bool {
        guard let machine else { throw deliveryErrorWithoutKeys }
        do {
            return try await machine.setMembers(
                members, visibility: visibility, of: ExactText(room.rawValue), since: version)
        } catch {
            try await end(for: error)
        }
        throw deliveryErrorWithoutKeys
    }

    /// Asks the server what the machine has to know, and sends what it has to send.
    /// - Returns: Whether all was answered.
    func makeAllRequests() async -> Bool { await requests?.makeAllRequests() ?? false }

    /// What keeps this device from ever writing into encrypted rooms; `nil` if it can, or may in a while.
    nonisolated var obstacle: String? {
        if RatchetLibrary.version == nil { return "this program was built without encryption" }
        switch condition {
        case .none, .on, .off(.locked), .off(.storage): return nil
        case .off(.credentialLost): return "what opens the keys of this device is lost"
        case .off(.missing), .off(.damaged): return "the keys of this device cannot be read"
        case .off(.replaced): return "another program has the keys of this device"
        case .off(.noDevice): return "the server named no device"
        case .off(.notBuilt): return "this program was built without encryption"
        }
    }

    private var deliveryErrorWithoutKeys: DeliveryError { obstacle.map { .rejected(reason: $0) } ?? .unreachable }
}
