public import ChatCore
public import Foundation
public import JSONReading
import Ratchets

extension CryptoMachine {
    /// What becomes of a message that is to be written into an encrypted room.
    public enum Sealing: Equatable, Sendable {
        /// The content of an `m.room.encrypted`. Its index is already marked as used on the disk.
        case sealed(JSONValue)
        /// All members have to be known first (``setMembers(_:visibility:of:since:)``).
        case needsMembers(AudienceVersion)
        /// Requests have to be answered first.
        case waits
        case refused(Rejection)
    }

    public enum Rejection: Error, Hashable, Sendable {
        /// The room is not known to be encrypted.
        case clear
        case algorithm
        /// The server has other keys for this device.
        case replaced
        /// These users, the own one among them, have other identities than those that were verified.
        case changedIdentities([ExactText])
        /// The message cannot be written down.
        case content
    }

    /// What was known of a room's members when somebody asked.
    public struct AudienceVersion: Hashable, Sendable {
        let epoch: Int
        let generation: UInt64
    }

    /// Encrypts a message for a room, once all devices that are to read it have the key.
    public func seal(
        _ type: String, _ content: [String: JSONValue], in room: ExactText, at now: Date
    ) async throws -> Sealing {
        guard let plaintext = Self.plaintext(type, content, in: room) else { return .refused(.content) }
        return try await change { state, change in
            guard !state.isReplaced else { return .refused(.replaced) }
            guard let settings = try await settings(of: room, &state) else { return .refused(.clear) }
            guard settings.isSupported else { return .refused(.algorithm) }
            var audience = state.audiences[room] ?? RoomAudience()
            guard audience.isWhole else {
                state.audiences[room] = audience
                return .needsMembers(AudienceVersion(epoch: self.epoch, generation: audience.generation))
            }
            // Others could not know who has written.
            guard state.upkeep.isDeviceUploaded else { return .waits }
            try await audience.load(room, from: storage)
            state.audiences[room] = audience
            var sharing = RoomKeySharing(
                room: room, user: user, device: device, storage: storage, key: key, settings: settings,
                audience: audience, now: now)
            var outbound: OutboundRoom
            switch try await sharing.share(&state, &change) {
            case .shared(let session): outbound = session
            case .waits: return .waits
            case .held(let users): return .refused(.changedIdentities(users))
            }
            if try outbound.reserveIndex() {
                change.merge(CryptoChange(put: [try outbound.record(of: room, key: key)]))
                state.outbound[room] = outbound
            }
            return .sealed(try seal(plaintext, relation: content["m.relates_to"], with: outbound, state.upkeep))
        }
    }

    /// How a room is encrypted, as it is on the disk; read anew only if that may have changed.
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

    /// A relation is outside alone, where servers read it.
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

    /// Takes all members of a room, as a server lists them.
    /// - Returns: `false` if something has changed since they were asked for, so that they have to be asked for again.
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
            // Who has the key and is not among them is found by comparing.
            audience.visibility = visibility
            audience.isWhole = true
            change.merge(CryptoChange(put: [try audience.record(of: room)]))
            state.audiences[room] = audience
            return true
        }
    }

    /// Takes what a sync says of rooms, before its token is stored.
    public func received(_ news: [AudienceNews]) async throws {
        guard !news.isEmpty else { return }
        try await change { state, change in
            for one in news {
                // Of others, all is asked for before something is written.
                guard var audience = state.audiences[one.room] else { continue }
                var isSpent = false
                let before = (audience.isWhole, audience.visibility)
                for item in one.items where audience.take(item, in: one.room, &change) { isSpent = true }
                if before != (audience.isWhole, audience.visibility) {
                    change.merge(CryptoChange(put: [try audience.record(of: one.room)]))
                }
                state.audiences[one.room] = audience
                if isSpent { try await spend(one.room, &state, &change) }
            }
        }
    }

    private static let missedKey = CryptoRecord.Key(.position, id: "missed")

    /// Notes that a sync was taken without the keys: who has come and gone, or has other devices, is not known then.
    public static func noteMissedSync(in storage: any CryptoStorage) async throws {
        try await storage.commit(CryptoChange(put: [CryptoRecord(missedKey, value: Data([1]))]))
    }

    /// Asks for everything again that a sync may have said which was taken without the keys.
    public func catchUp() async throws {
        guard try await storage.cryptoRecord(Self.missedKey) != nil else { return }
        try await change { state, change in
            state.tracker.invalidateAll()
            try Self.forgetAudiences(&state, &change)
            change.merge(CryptoChange(removed: [Self.missedKey]))
        }
    }

    /// After a sync from the beginning: members may have come and gone.
    static func forgetAudiences(_ state: inout State, _ change: inout CryptoChange) throws {
        for (room, known) in state.audiences where known.isWhole {
            var audience = known
            _ = audience.take(.gap, in: room, &change)
            change.merge(CryptoChange(put: [try audience.record(of: room)]))
            state.audiences[room] = audience
        }
    }

    private func spend(_ room: ExactText, _ state: inout State, _ change: inout CryptoChange) async throws {
        if state.outbound[room] != nil {
            state.outbound[room]?.isSpent = true
            if let outbound = state.outbound[room] {
                change.merge(CryptoChange(put: [try outbound.record(of: room, key: key)]))
            }
        } else if let record = try await storage.cryptoRecord(OutboundRoom.key(room)) {
            change.merge(CryptoChange(put: [try OutboundRoom.spent(record)]))
        }
    }

    // MARK: Answers

    /// The server has taken a batch of keys, or refuses it for good.
    func answered(
        _ share: RoomKeyBatch.Share, isAccepted: Bool, _ state: inout State, _ change: inout CryptoChange, at now: Date
    ) async throws {
        let outbound = try await OutboundRoom.known(share.room, in: storage, key: key, &state)
        guard var outbound, outbound.id == share.session else { return }
        for reader in share.readers {
            guard var devices = outbound.shares[reader.user], var entry = devices[reader.device] else { continue }
            entry.isAnswered = true
            // What was refused is tried again with a later message.
            devices[reader.device] = isAccepted ? entry : nil
            if !isAccepted { state.claimDelays[reader, default: RetryDelay()].extend(from: now) }
            outbound.shares[reader.user] = devices
        }
        let users = Set(share.readers.map(\.user))
        change.merge(CryptoChange(put: try users.map { try outbound.record(of: share.room, for: $0) }))
        outbound.checked = nil
        state.outbound[share.room] = outbound
    }
}

extension OutboundRoom {
    /// The session of a room, from memory or from the disk.
    static func known(
        _ room: ExactText, in storage: any CryptoStorage, key: KeyMaterial, _ state: inout CryptoMachine.State
    ) async throws -> OutboundRoom? {
        if let outbound = state.outbound[room] { return outbound }
        let records = try await storage.cryptoRecords(.outboundGroupSession, owner: room)
        let outbound = try OutboundRoom(room, records: records, key: key)
        state.outbound[room] = outbound
        return outbound
    }
}
