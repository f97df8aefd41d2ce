public import ChatCore
public import Foundation
public import JSONReading
import Ratchets

extension CryptoMachine {
    /// The outcome of encrypting a message for a room.
    public enum Sealing: Equatable, Sendable {
        /// The content of an `m.room.encrypted`. Its message index is already stored as used.
        case sealed(JSONValue)
        /// The full member list is needed first (``setMembers(_:visibility:of:since:)``).
        case needsMembers(AudienceVersion)
        /// Pending requests have to complete first.
        case waits
        case refused(Rejection)
    }

    public enum Rejection: Error, Hashable, Sendable {
        /// The room is not known to be encrypted.
        case clear
        case algorithm
        /// The server has other keys for this device.
        case replaced
        /// The identities of these users, possibly including the local user, are not the verified ones.
        case changedIdentities([ExactText])
        /// The message has no canonical JSON form.
        case content
    }

    /// The state of a room's audience at the time its members were requested.
    public struct AudienceVersion: Hashable, Sendable {
        let epoch: Int
        let generation: UInt64
    }

    /// Encrypts a message for a room, once all devices that are to read it have the room key.
    /// - Parameter other: The user whose identity is verified by the message. It is encrypted even if that identity has
    ///   changed since an earlier verification: nothing else could verify it.
    public func seal(
        _ type: String, _ content: [String: JSONValue], in room: ExactText, verifying other: ExactText? = nil,
        at now: Date
    ) async throws -> Sealing {
        guard let plaintext = Self.plaintext(type, content, in: room) else { return .refused(.content) }
        return try await change { state, change in
            var outbound: OutboundRoom
            switch try await shared(room, verifying: other, &state, &change, at: now) {
            case .ready(let session): outbound = session
            case .obstacle(let sealing): return sealing
            }
            if try outbound.reserveIndex() {
                change.merge(CryptoChange(put: [try outbound.record(of: room, key: key)]))
                state.outbound[room] = outbound
            }
            return .sealed(try seal(plaintext, relation: content["m.relates_to"], with: outbound, state.upkeep))
        }
    }

    /// Shares the room key with all devices that are to read a room's next message, as before something is uploaded for
    /// it.
    /// - Returns: What ``seal(_:_:in:verifying:at:)`` would return in place of an encrypted message; `nil` if it would
    ///   encrypt one.
    public func prepareSealing(in room: ExactText, at now: Date) async throws -> Sealing? {
        try await change { state, change in
            let sharing = try await shared(room, verifying: nil, &state, &change, at: now)
            guard case .obstacle(let sealing) = sharing else { return nil }
            return sealing
        }
    }

    private enum Sharing {
        case ready(OutboundRoom)
        case obstacle(Sealing)
    }

    private func shared(
        _ room: ExactText, verifying other: ExactText?, _ state: inout State, _ change: inout CryptoChange, at now: Date
    ) async throws -> Sharing {
        guard !state.isReplaced else { return .obstacle(.refused(.replaced)) }
        guard let settings = try await settings(of: room, &state) else { return .obstacle(.refused(.clear)) }
        guard settings.isSupported else { return .obstacle(.refused(.algorithm)) }
        var audience = state.audiences[room] ?? RoomAudience()
        if audience.isWhole { try await audience.load(room, from: storage) }
        state.audiences[room] = audience
        guard audience.isWhole else {
            return .obstacle(.needsMembers(AudienceVersion(epoch: epoch, generation: audience.generation)))
        }
        // Otherwise recipients could not verify the sender.
        guard state.upkeep.isDeviceUploaded else { return .obstacle(.waits) }
        var sharing = RoomKeySharing(
            room: room, user: user, device: device, storage: storage, key: key, settings: settings,
            audience: audience, verifying: other, now: now)
        switch try await sharing.share(&state, &change) {
        case .shared(let session): return .ready(session)
        case .waits: return .obstacle(.waits)
        case .held(let users): return .obstacle(.refused(.changedIdentities(users)))
        }
    }

    /// A room's stored encryption settings, read again only if the storage has changed.
    private func settings(of room: ExactText, _ state: inout State) async throws -> EncryptedRoom? {
        let changes = await storage.changeCount()
        if let known = state.settings[room], known.changes == changes { return known.room }
        guard let record = try await storage.cryptoRecord(EncryptedRoom.key(room)) else { return nil }
        let settings: EncryptedRoom
        if let known = state.settings[room], known.record == record {
            settings = known.room
        } else {
            settings = try EncryptedRoom(record: record)
        }
        state.settings[room] = (changes, record, settings)
        return settings
    }

    /// Omits the relation, which stays outside the ciphertext, where servers need it.
    private static func plaintext(_ type: String, _ content: [String: JSONValue], in room: ExactText) -> [UInt8]? {
        var inner = content
        inner["m.relates_to"] = nil
        let payload: JSONValue = [
            "type": .string(type), "content": .object(inner), "room_id": .string(room.text),
        ]
        return try? CanonicalJSON.bytes(of: payload)
    }

    private func seal(
        _ plaintext: [UInt8], relation: JSONValue?, with outbound: OutboundRoom, _ upkeep: KeyUpkeep
    ) throws -> JSONValue {
        var sealed: [String: JSONValue] = [
            "algorithm": .string(InboundSession.algorithm), "session_id": .string(outbound.id.text),
            "ciphertext": .string(Base64.encoded(try outbound.session.encrypt(plaintext))),
            "device_id": .string(device.text), "sender_key": .string("\(upkeep.account.identityKey)"),
        ]
        sealed["m.relates_to"] = relation
        return .object(sealed)
    }

    // MARK: Audience

    /// Replaces the members of a room with the server's list.
    /// - Returns: `false` if the audience has changed since the request, so that the list must be requested again.
    public func setMembers(
        _ members: [ExactText: String], visibility: String?, of room: ExactText, since version: AudienceVersion
    ) async throws -> Bool {
        try await change { state, change in
            guard version.epoch == self.epoch, var audience = state.audiences[room],
                audience.generation == version.generation
            else { return false }
            let records = audience.replaceMembers(members, in: room)
            for record in try await storage.cryptoRecords(.roomMember, owner: room) {
                change.removed.insert(record.key)
            }
            change.merge(CryptoChange(put: records))
            // `isSharedBeyond` detects former members who still have the key, but nothing detects who came and went since
            // the list was last whole: others may have passed the key on to them (Matrix specification, Megolm: sharing
            // keys). So no key outlives that.
            try await spend(room, &state, &change)
            audience.visibility = visibility
            audience.isWhole = true
            change.merge(CryptoChange(put: [try audience.record(of: room)]))
            state.audiences[room] = audience
            return true
        }
    }

    /// Applies the audience changes of a sync, before its token is stored.
    public func received(_ news: [AudienceNews]) async throws {
        guard !news.isEmpty else { return }
        try await change { state, change in
            // Merged once: the cost of a merge grows with the whole change.
            var records: [CryptoRecord.Key: CryptoRecord?] = [:]
            for one in news {
                // For all other rooms, the full member list is requested before the first message. Removed meanwhile, so
                // that a change of one member copies no others.
                guard var audience = state.audiences.removeValue(forKey: one.room) else { continue }
                var isSpent = false
                let before = (audience.isWhole, audience.visibility)
                for item in one.items where audience.take(item, in: one.room, &records) { isSpent = true }
                if before != (audience.isWhole, audience.visibility) {
                    let record = try audience.record(of: one.room)
                    records.updateValue(record, forKey: record.key)
                }
                state.audiences[one.room] = audience
                if isSpent { try await spend(one.room, &state, &change) }
            }
            let removed = records.filter { $0.value == nil }.keys
            change.merge(CryptoChange(put: records.values.compactMap(\.self), removed: Set(removed)))
        }
    }

    private static let missedKey = CryptoRecord.Key(.position, id: "missed")

    /// Records that a sync was processed without the keys, so that changes of members and devices were missed.
    public static func noteMissedSync(in storage: any CryptoStorage) async throws {
        try await storage.commit(CryptoChange(put: [CryptoRecord(missedKey, value: Data([1]))]))
    }

    /// Invalidates everything that syncs processed without the keys may have changed.
    public func catchUp() async throws {
        guard try await storage.cryptoRecord(Self.missedKey) != nil else { return }
        try await change { state, change in
            state.tracker.invalidateAll()
            try Self.forgetAudiences(&state, &change)
            change.merge(CryptoChange(removed: [Self.missedKey]))
        }
    }

    /// Invalidates all audiences after an initial sync, which does not report who has left.
    static func forgetAudiences(_ state: inout State, _ change: inout CryptoChange) throws {
        var records: [CryptoRecord] = []
        for room in state.audiences.filter({ $0.value.isWhole }).keys {
            state.audiences[room]?.outdate()
            if let audience = state.audiences[room] { records.append(try audience.record(of: room)) }
        }
        change.merge(CryptoChange(put: records))
    }

    private func spend(_ room: ExactText, _ state: inout State, _ change: inout CryptoChange) async throws {
        if state.outbound[room] != nil {
            state.outbound[room]?.isSpent = true
            if let outbound = state.outbound[room] {
                change.merge(CryptoChange(put: [try outbound.record(of: room, key: key)]))
            }
        } else if let record = try await storage.cryptoRecord(OutboundRoom.key(room)),
            // With a damaged one nothing is encrypted in any case.
            let spent = try? OutboundRoom.spent(record)
        {
            change.merge(CryptoChange(put: [spent]))
        }
    }

    // MARK: Answers

    /// Applies the server's response to a batch of room keys: acceptance or permanent rejection. A single device, or
    /// the size of the batch, may cause a rejection: the key is then shared in batches of half the size, for which
    /// messages wait. They do not wait for a device that was alone.
    func answered(
        _ share: RoomKeyBatch.Share, isAccepted: Bool, _ state: inout State, _ change: inout CryptoChange, at now: Date
    ) async throws {
        let outbound = try await OutboundRoom.known(share.room, in: storage, key: key, &state)
        guard var outbound, outbound.id == share.session else { return }
        for reader in share.readers {
            guard var devices = outbound.shares[reader.user], var entry = devices[reader.device] else { continue }
            entry.isAnswered = true
            devices[reader.device] = isAccepted ? entry : nil
            state.shareLimits[reader] = isAccepted ? nil : (share.readers.count + 1) / 2
            if !isAccepted, share.readers.count == 1 {
                // It is retried with a later message.
                state.claimDelays[reader, default: RetryDelay()].extend(from: now)
            }
            outbound.shares[reader.user] = devices
        }
        let users = Set(share.readers.map(\.user))
        change.merge(CryptoChange(put: try users.map { try outbound.record(of: share.room, for: $0) }))
        outbound.checked = nil
        state.outbound[share.room] = outbound
    }
}

extension OutboundRoom {
    /// A room's session, from memory or the storage; `nil` if it is damaged: it is not known then which of its indices
    /// are used and who has its key, so that the next message begins another session.
    /// - Throws: If the storage fails.
    static func known(
        _ room: ExactText, in storage: any CryptoStorage, key: KeyMaterial, _ state: inout CryptoMachine.State
    ) async throws -> OutboundRoom? {
        if let outbound = state.outbound[room] { return outbound }
        // Only this state's changes add records. Damaged ones are read again.
        guard !state.roomsWithoutOutbound.contains(room) else { return nil }
        let records = try await storage.cryptoRecords(.outboundGroupSession, owner: room)
        if records.isEmpty { state.roomsWithoutOutbound.insert(room) }
        let outbound = try? OutboundRoom(room, records: records, key: key)
        state.outbound[room] = outbound
        return outbound
    }
}
