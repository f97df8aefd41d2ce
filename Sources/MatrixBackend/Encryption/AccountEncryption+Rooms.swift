import ChatCore
import ChatOutbox
import ChatStore
import JSONReading
import MatrixCrypto
import Ratchets
import Synchronization

/// Which rooms are encrypted, and encrypting messages for them.
extension AccountEncryption {
    /// Whether this device has ever known the room to be encrypted. Needs no keys, which may be locked.
    /// - Throws: If this cannot be read. The room may then be encrypted.
    func isEncrypted(_ room: RoomID) async throws -> Bool { try await encryptedRoom(room) != nil }

    func encryptedRoom(_ room: RoomID) async throws -> EncryptedRoom? {
        guard let storage = try await roomStorage() else { return nil }
        let found = try await stored(ExactText(room.rawValue), in: storage)
        if found != nil { noteKnown(room) }
        return found
    }

    private func stored(_ room: ExactText, in storage: any CryptoStorage) async throws -> EncryptedRoom? {
        do {
            return try await EncryptedRoom.stored(room, in: storage)
        } catch is DecodingError {
            let time = now()
            try await roomGate.run { try await EncryptedRoom.note([(room, .null)], in: storage, at: time) }
            return try await EncryptedRoom.stored(room, in: storage)
        }
    }

    /// Records, permanently, that rooms are encrypted.
    func noteEncrypted(_ settings: [(room: ExactText, content: JSONValue)]) async throws {
        guard !settings.isEmpty else { return }
        defer { for (room, _) in settings { clearAttempts.cancelUploads(in: RoomID(room.text)) } }
        guard let storage = try await roomStorage() else { return }
        let time = now()
        try await roomGate.run { try await EncryptedRoom.note(settings, in: storage, at: time) }
        for (room, _) in settings { noteKnown(RoomID(room.text)) }
    }

    /// Records that a room created by this account is encrypted from its first event on.
    /// - Throws: If this cannot be stored. Nothing may then be sent into the room until the sync reports its
    ///   encryption.
    func noteEncrypted(new room: RoomID) async throws {
        guard try await roomStorage() != nil else { throw ChatError.encryptionUnavailable }
        try await noteEncrypted([(ExactText(room.rawValue), Self.settings)])
    }

    /// The content of `m.room.encryption` for rooms that get encrypted here.
    static let settings: JSONValue = ["algorithm": .string(InboundSession.algorithm)]

    /// - Throws: ``ChatError/encryptionUnavailable`` while this device cannot encrypt.
    nonisolated func requireEncryption() throws(ChatError) {
        guard condition == .on else { throw .encryptionUnavailable }
    }

    nonisolated func noteKnown(_ room: RoomID) { knownRooms.withLock { _ = $0.insert(room) } }

    /// Whether a room is encrypted, from memory. `false` proves nothing: the room may not have been looked up yet.
    nonisolated func isKnownEncrypted(_ room: RoomID) -> Bool { knownRooms.withLock { $0.contains(room) } }

    /// Applies a sync response, before its rooms and its token are stored.
    /// - Throws: If it cannot be stored, as on a full disk. The server then sends it again.
    func take(_ update: SyncUpdate) async throws {
        let machine = self.machine
        do {
            try await catchUpWithUnnoted()
            try await noteEncrypted(update.encryptionSettings)
            try await noteMissedSync()
        } catch is StoreOpeningError {
            // While this cannot be read, nothing is sent; the history stores the setting as well.
            hasUnnotedMiss = true
        } catch {
            try await end(for: error, of: machine)
            hasUnnotedMiss = true
        }
        try await take(update.crypto)
        try await take(update.audienceNews)
    }

    /// Records that membership changes were missed while the keys were unavailable.
    func noteMissedSync() async throws {
        guard machine == nil, !hasMissedSync, let storage = try await roomStorage() else { return }
        // Before it is recorded: opening the keys meanwhile resets this, so that the next time is recorded as well.
        hasMissedSync = machine == nil
        do {
            try await CryptoMachine.noteMissedSync(in: storage)
        } catch {
            hasMissedSync = false
            throw error
        }
        hasUnnotedMiss = false
        // The keys may have been opened while it was recorded.
        try await machine?.catchUp()
    }

    /// Catches up with what the history has recorded as missed, if the keys were opened meanwhile.
    /// - Throws: If this cannot be stored. The next sync must not be stored either, until it is.
    func catchUpWithUnnoted() async throws {
        guard hasUnnotedMiss, let machine, let store else { return }
        try await CryptoMachine.noteMissedSync(in: store)
        try await machine.catchUp()
        hasUnnotedMiss = false
    }

    /// Catches up after a sync that was requested before the keys opened: the server does not report again what such a
    /// request leaves out.
    /// - Throws: If this cannot be stored, as on a full disk.
    func catchUpWithUnrequested() async throws {
        guard let machine else { return }
        do {
            // With replaced keys no sync requests it, so that all devices would be queried after each one.
            guard try await !machine.isReplaced() else { return }
            hasUnnotedMiss = true
            try await catchUpWithUnnoted()
        } catch {
            hasUnnotedMiss = true
            return try await end(for: error, of: machine)
        }
        await requests?.wake()
    }

    /// Applies the removal of a member before the sync reports it, and has all members requested before the next
    /// message: a sync may have reported already that they joined again, which it does not repeat.
    /// - Parameter membership: The event of the membership that has ended, if it is known.
    func noteGone(_ member: MemberID, from room: RoomID, ending membership: MessageID? = nil) async throws {
        if let membership { endedMemberships.insert(membership) }
        let gone = AudienceNews.Item.member(ExactText(member.rawValue), "leave")
        try await take([AudienceNews(room: ExactText(room.rawValue), items: [gone, .gap])])
    }

    /// Has all members requested before the next message, as somebody may have been invited or removed without a sync
    /// that has reported it yet.
    func noteUnreportedChange(of room: RoomID) async throws {
        // An invited user is not added as a member: a sync may have reported already that they have left again.
        try await take([AudienceNews(room: ExactText(room.rawValue), items: [.gap])])
    }

    private func take(_ news: [AudienceNews]) async throws {
        guard !news.isEmpty else { return }
        // The keys may have been closed since the sync's other parts were applied.
        guard let machine else { return try await noteMissedNews() }
        do {
            try await machine.received(news)
            noteChange()
        } catch {
            try await end(for: error, of: machine)
            try await noteMissedNews()
        }
    }

    private func noteMissedNews() async throws {
        do {
            try await noteMissedSync()
        } catch is StoreOpeningError {
            hasUnnotedMiss = true
        }
    }

    // MARK: Writing

    /// Encrypts a message, or returns what has to happen first.
    /// - Parameter other: see ``CryptoMachine/seal(_:_:in:verifying:at:)``.
    /// - Throws: ``DeliveryError`` if this device cannot encrypt, or the error of the storage.
    func seal(
        _ type: String, _ content: [String: JSONValue], in room: RoomID, verifying other: ExactText? = nil
    ) async throws -> CryptoMachine.Sealing {
        guard let machine else { throw deliveryErrorWithoutKeys }
        do {
            let sealing = try await machine.seal(
                type, content, in: ExactText(room.rawValue), verifying: other, at: now())
            if case .sealed = sealing {
                await wakeBackup()
                // Sends `m.room_key.withheld` to devices that do not get the key.
                await requests?.wake()
            }
            return sealing
        } catch {
            try await end(for: error, of: machine)
        }
        throw deliveryErrorWithoutKeys
    }

    /// Shares a room's key, and returns what has to happen before a message can be encrypted; `nil` for nothing.
    /// - Throws: see ``seal(_:_:in:verifying:)``.
    func prepareSealing(in room: RoomID) async throws -> CryptoMachine.Sealing? {
        guard let machine else { throw deliveryErrorWithoutKeys }
        do {
            return try await machine.prepareSealing(in: ExactText(room.rawValue), at: now())
        } catch {
            try await end(for: error, of: machine)
        }
        throw deliveryErrorWithoutKeys
    }

    /// - Returns: `false` if the member list has to be requested again.
    func setMembers(
        _ members: [ExactText: String], visibility: String?, of room: RoomID,
        since version: CryptoMachine.AudienceVersion
    ) async throws -> Bool {
        guard let machine else { throw deliveryErrorWithoutKeys }
        do {
            let isCurrent = try await machine.setMembers(
                members, visibility: visibility, of: ExactText(room.rawValue), since: version)
            // The room's warnings concern these members.
            if isCurrent { noteChange() }
            return isCurrent
        } catch {
            try await end(for: error, of: machine)
        }
        throw deliveryErrorWithoutKeys
    }

    /// Makes all requests that the machine has.
    /// - Returns: Whether every one of them succeeded.
    func makeAllRequests() async -> Bool { await requests?.makeAllRequests() ?? false }

    /// Makes all requests that the machine has. Other kinds than these may fail.
    /// - Parameter user: Whose devices have to be known by a query; `nil` for the own user.
    /// - Throws: ``EncryptionError``: why one of these kinds has failed.
    func makeRequests(_ kinds: Set<CryptoRequest.Kind>, about user: ExactText? = nil) async throws {
        guard let machine, let requests else { throw EncryptionError.unavailable(condition.problem) }
        do {
            try await requests.makeRequests(kinds, about: user ?? machine.user)
        } catch {
            throw EncryptionError.translated(error)
        }
    }

    /// Why this device cannot write into encrypted rooms, or `nil` if it can or soon may.
    nonisolated var obstacle: DeliveryReason? {
        if RatchetLibrary.version == nil { return .notBuilt }
        switch condition {
        case .none, .on, .off(.locked), .off(.storage): return nil
        case .off(.credentialLost): return .credentialLost
        case .off(.missing), .off(.damaged): return .unreadableKeys
        case .off(.replaced): return .replacedKeys
        case .off(.noDevice): return .noDevice
        case .off(.notBuilt): return .notBuilt
        }
    }

    /// - Throws: ``DeliveryError`` while this device cannot encrypt.
    func requireKeys() throws(DeliveryError) {
        guard machine != nil else { throw deliveryErrorWithoutKeys }
    }

    private var deliveryErrorWithoutKeys: DeliveryError { obstacle?.error ?? .unreachable }
}
