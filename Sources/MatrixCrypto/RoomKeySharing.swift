import ChatCore
import Foundation
import JSONReading
import Ratchets

/// Shares a room key with all devices that are to read the room, within one change of the machine.
struct RoomKeySharing {
    let room: ExactText
    let user: ExactText
    let device: ExactText
    let storage: any CryptoStorage
    let key: KeyMaterial
    let settings: EncryptedRoom
    let audience: RoomAudience
    /// The user whose identity is verified by the message to send; `nil` for any other message.
    let verifying: ExactText?
    let now: Date

    enum Outcome {
        /// The session to encrypt with.
        case shared(OutboundRoom)
        /// Pending requests have to complete first.
        case waits
        /// The identities of these users are not the verified ones.
        case held([ExactText])
    }

    mutating func share(_ state: inout CryptoMachine.State, _ change: inout CryptoChange) async throws -> Outcome {
        let isShared = RoomAudience.isShared(audience.visibility)
        var outbound: OutboundRoom
        let known = try await OutboundRoom.known(room, in: storage, key: key, &state)
        if let known, try !known.isOver(for: settings, isSharedHistory: isShared, at: now) {
            outbound = known
        } else {
            outbound = try await begin(&state, &change)
        }
        // Before the readers are listed, of whom a room may have thousands. At these revisions, all of them were tracked.
        if outbound.checked == revisions(state.tracker), outbound.retry.map({ now < $0 }) ?? true {
            return .shared(outbound)
        }
        let readers = audience.readers(with: user)
        state.tracker.track(readers)
        let stamp = revisions(state.tracker)
        guard !readers.contains(where: state.tracker.holdsUp) else { return .waits }
        outbound.checked = nil
        let identities = try await Identity.stored(readers, in: storage)
        for (reader, identity) in identities where identity.isUnknown {
            state.tracker.noteDamagedIdentity(of: reader)
        }
        guard !readers.contains(where: state.tracker.holdsUp) else { return .waits }
        let changed = readers.filter {
            $0 == user
                ? identities[$0]?.isOwnReplaced ?? false : identities[$0]?.hasChangedAfterVerification ?? false
        }
        let held = changed.filter { $0 != verifying }
        guard held.isEmpty else { return .held(held) }
        let (devices, unconfirmed) = try await devices(of: readers, identities, &state.tracker)
        guard !readers.contains(where: state.tracker.holdsUp) else { return .waits }
        if outbound.isSharedBeyond(devices) { outbound = try await begin(&state, &change) }
        guard try await share(&outbound, with: devices, &state, &change) else {
            state.outbound[room] = outbound
            return .waits
        }
        try withhold(&outbound, from: unconfirmed, &state, &change)
        // With a changed identity, the next message has to be checked again: it may be no part of the verification.
        outbound.checked = changed.isEmpty ? stamp : nil
        state.outbound[room] = outbound
        return .shared(outbound)
    }

    private func revisions(_ tracker: DeviceTracker) -> OutboundRoom.Stamp {
        OutboundRoom.Stamp(devices: tracker.revision, audience: audience.generation)
    }

    /// Starts a new session, which this device can decrypt from the first message on.
    private func begin(
        _ state: inout CryptoMachine.State, _ change: inout CryptoChange
    ) async throws -> OutboundRoom {
        for record in try await storage.cryptoRecords(.outboundGroupSession, owner: room) {
            change.merge(CryptoChange(removed: [record.key]))
        }
        let isShared = RoomAudience.isShared(audience.visibility)
        let outbound = try OutboundRoom(for: settings, isSharedHistory: isShared, at: now)
        let account = state.upkeep.account
        let owner = InboundSession.Owner(
            user: user, identityKey: account.identityKey, signingKey: account.signingKey)
        let own = try InboundSession(roomKey: outbound.roomKey(of: room), from: owner)
        let records = [try own.record(key: key), try outbound.record(of: room, key: key)]
        change.merge(CryptoChange(put: records))
        state.outbound[room] = outbound
        return outbound
    }

    /// The readers' devices: those confirmed by their owners, which alone receive keys, and the others.
    private func devices(
        of readers: [ExactText], _ identities: [ExactText: Identity], _ tracker: inout DeviceTracker
    ) async throws -> (confirmed: [ExactText: [ExactText: DeviceKeys]], others: [DeviceID]) {
        var confirmed: [ExactText: [ExactText: DeviceKeys]] = [:]
        var others: [DeviceID] = []
        let records = try await storage.cryptoRecords(.device, owners: Set(readers))
        for reader in readers {
            let stored = StoredDevices(records[reader] ?? [])
            if !stored.damaged.isEmpty { tracker.noteDamagedDevice(of: reader) }
            for keys in stored.devices {
                let isThis = reader == user && keys.device == device
                guard keys.readsRooms, !isThis else { continue }
                if identities[reader]?.confirms(keys) == true {
                    confirmed[reader, default: [:]][keys.device] = keys
                } else {
                    others.append(DeviceID(user: reader, device: keys.device))
                }
            }
        }
        return (confirmed, others)
    }

    /// Notifies devices why they do not receive the key, once per session. Messages do not wait for this.
    private func withhold(
        _ outbound: inout OutboundRoom, from devices: [DeviceID], _ state: inout CryptoMachine.State,
        _ change: inout CryptoChange
    ) throws {
        let uninformed = devices.filter { outbound.informed[$0.user]?.contains($0.device) != true }
            .prefix(max(0, OutboundRoom.maxInformed - outbound.informed.values.reduce(0) { $0 + $1.count }))
        guard !uninformed.isEmpty else { return }
        let content: JSONValue = [
            "algorithm": .string(InboundSession.algorithm), "room_id": .string(room.text),
            "session_id": .string(outbound.id.text), "code": .string(Withheld.unverified.rawValue),
            "reason": "the device is not verified by its owner",
            "sender_key": .string("\(state.upkeep.account.identityKey)"),
        ]
        for item in try RoomKeyBatch.batches("m.room_key.withheld", uninformed.map { ($0, content) }) {
            state.outgoing.add(.batch(item))
        }
        for device in uninformed { outbound.informed[device.user, default: []].insert(device.device) }
        let records = try Set(uninformed.map(\.user)).map { try outbound.record(of: room, for: $0) }
        change.merge(CryptoChange(put: records))
    }

    /// - Returns: Whether all devices that can receive the key have it.
    private func share(
        _ outbound: inout OutboundRoom, with devices: [ExactText: [ExactText: DeviceKeys]],
        _ state: inout CryptoMachine.State, _ change: inout CryptoChange
    ) async throws -> Bool {
        var batch = RoomKeyBatch(writer: DeviceWriter(user: user, upkeep: state.upkeep))
        outbound.retry = nil
        let lacking = devices.keys.sorted().flatMap { reader in
            (devices[reader] ?? [:]).values.filter { outbound.shares[reader]?[$0.device] == nil }
        }
        let known = try await OlmPeer.stored(Set(lacking.map(\.peer)), in: storage, key: key)
        var peers: [(device: DeviceKeys, peer: OlmPeer)] = []
        var isClaiming = false
        for device in lacking {
            let id = DeviceID(user: device.user, device: device.device)
            if let until = state.claimDelays[id]?.until, until > now {
                // Rejected before, or without a key to claim.
                outbound.retry = min(outbound.retry ?? until, until)
            } else if let peer = known[device.peer], peer.hasSession {
                peers.append((device, peer))
            } else {
                state.requested.insert(id)
                isClaiming = true
            }
        }
        // The key is shared with all devices at once, when all sessions are established.
        guard !isClaiming else { return false }
        guard !peers.isEmpty else { return !outbound.isUnderWay }
        let roomKey = try outbound.roomKey(of: room)
        let index = try outbound.session.index
        // Merged once: the cost of a merge grows with the whole change.
        var added = CryptoChange()
        for (device, known) in peers {
            var peer = known
            try batch.add("m.room_key", roomKey, to: device, &peer)
            added.put += try peer.change(key: key).put
            let share = OutboundRoom.Share(
                identityKey: StoredBytes(device.identityKey.bytes), index: index, isAnswered: false)
            outbound.shares[device.user, default: [:]][device.device] = share
        }
        for reader in Set(peers.map(\.device.user)) {
            added.put.append(try outbound.record(of: room, for: reader))
        }
        change.merge(added)
        for item in try batch.items(of: room, session: outbound.id, limits: state.shareLimits) {
            state.outgoing.add(.batch(item))
        }
        return false
    }
}
