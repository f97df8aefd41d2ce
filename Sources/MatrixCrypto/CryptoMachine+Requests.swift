import ChatCore
public import Foundation
public import JSONReading
import Ratchets

extension CryptoMachine {
    /// Devices per `keys/claim` request.
    static let maxClaims = 250

    /// The next request to send, if one is due. The state that it is based on is already stored.
    /// - Parameter kinds: The kinds of requests that are not to be made now.
    public func nextRequest(
        at now: Date, skipping kinds: Set<CryptoRequest.Kind> = []
    ) async throws -> CryptoRequest? {
        while true {
            let (next, isDone) = try await change { state, change in
                try await self.confirmSessions(&state, &change, at: now)
                return (
                    try await self.nextAction(&state, &change, skipping: kinds, at: now), state.confirmations.isEmpty
                )
            }
            if let next { return CryptoRequest(action: next.action, epoch: epoch, number: next.number) }
            guard !isDone else { return nil }
        }
    }

    private func nextAction(
        _ state: inout State, _ change: inout CryptoChange, skipping kinds: Set<CryptoRequest.Kind>, at now: Date
    ) async throws -> (action: CryptoRequest.Action, number: UInt64?)? {
        try await answerSecretRequests(&state, &change, at: now)
        try state.upkeep.forgetFormerFallbackKey(at: now)
        if !state.isReplaced {
            // Before the first upload, a query has to show whether the server has another program's keys for this
            // device.
            let mayUpload = state.upkeep.isDeviceUploaded || state.tracker.isOutdated(user) == false
            if mayUpload, !state.isUploading, !kinds.contains(.upload), let upload = try state.upkeep.nextUpload() {
                state.isUploading = true
                return (.upload(Array(upload)), nil)
            }
            let delays = state.signatureDelays
            if !state.isSending, let next = state.outgoing.nextToSend(after: delays, skipping: kinds, at: now) {
                state.isSending = true
                return (next.action, next.number)
            }
            if !state.isClaiming, !kinds.contains(.claim), state.claimPause.until <= now {
                let claims = try await claims(for: &state, at: now)
                if !claims.isEmpty {
                    state.isClaiming = true
                    return (.claim(claims), nil)
                }
            }
        }
        guard !kinds.contains(.query) else { return nil }
        return state.tracker.nextQuery(at: now).map { (.query($0), nil) }
    }

    /// When ``nextRequest(at:)`` is worth calling again even if nothing is received.
    public func nextAttempt(after now: Date) async throws -> Date? {
        try await change { state, _ in
            let asking = state.secretRequests.requested.compactMap {
                state.claimDelays[DeviceID(user: user, device: $0.device)]
            }
            let delays = asking + state.repairDelays.values + state.signatureDelays.values + [state.claimPause]
            return ([state.tracker.nextAttempt(after: now), state.upkeep.formerFallbackKeyEnd] + delays.map(\.until))
                .compactMap(\.self).filter { $0 > now }.min()
        }
    }

    /// The one-time keys to claim: for devices whose messages no session decrypts, and for devices that are to receive
    /// a room key. Users whose entries in the response would be one (``DistinctNames``) are in separate requests.
    private func claims(for state: inout State, at now: Date) async throws -> [KeyClaim] {
        var claims: [KeyClaim] = []
        var devices: [ExactText: [DeviceKeys]] = [:]
        for (number, item) in state.outgoing.items.sorted(by: { $0.key < $1.key }) {
            guard claims.count < Self.maxClaims else { break }
            guard case .repair(let name, let identityKey) = item, state.repairDelays[number]?.until ?? now <= now else {
                continue
            }
            let user = ExactText(name)
            state.tracker.track([user])
            guard state.tracker.isOutdated(user) == false else { continue }
            if devices[user] == nil { devices[user] = try await self.devices(of: user, &state.tracker) }
            // It may be the damaged device.
            guard state.tracker.isOutdated(user) == false else { continue }
            if let device = devices[user]?.first(where: { $0.identityKey.bytes == identityKey }) {
                claims.append(KeyClaim(user: user, device: device.device, number: number))
            } else {
                // The user's device list does not have this key: its owner has to establish the session.
                state.outgoing.remove(number)
            }
        }
        for id in state.requested.sorted().prefix(max(0, Self.maxClaims - claims.count)) {
            // At most one key per device in a request.
            guard !claims.contains(where: { $0.id == id }) else { continue }
            claims.append(KeyClaim(user: id.user, device: id.device, number: nil))
        }
        // The largest first: the devices of rejected claims hold up no others.
        let limit = claims.map { state.sizeLimit(of: $0) }.max() ?? Self.maxClaims
        var names = DistinctNames()
        return Array(claims.filter { state.sizeLimit(of: $0) == limit && names.add($0.user) }.prefix(limit))
    }

    // MARK: Answers

    /// Handles the server's response to a request.
    public func answered(_ request: CryptoRequest, with answer: JSONValue, at now: Date) async throws {
        try await change { state, change in
            state.isUnanswered = false
            guard request.epoch == self.epoch else { return }
            switch request.action {
            case .upload:
                state.isUploading = false
                try state.upkeep.uploaded(answer: answer)
            case .send:
                state.isSending = false
                if let number = request.number { state.outgoing.remove(number) }
            case .uploadSignatures(let body):
                state.isSending = false
                guard let number = request.number else { return }
                try await self.answered(body, as: number, with: answer, &state, &change, at: now)
            case .sendAll(let batch):
                state.isSending = false
                if let number = request.number { state.outgoing.remove(number) }
                if let share = batch.share {
                    try await self.answered(share, isAccepted: true, &state, &change, at: now)
                }
            case .claim(let claims):
                state.isClaiming = false
                try await self.take(answer, of: claims, &state, &change, at: now)
            case .query(let query): try await self.take(answer, of: query, &state, &change, at: now)
            }
        }
    }

    /// Handles a permanent rejection: the same request is not sent again. Smaller ones take the place of a query
    /// (``DeviceTracker/rejected(_:at:)``), a claim or a batch of room keys, which a single user or device may cause to
    /// be rejected (``CryptoRequest/divisibleSize``).
    public func refused(_ request: CryptoRequest, at now: Date) async throws {
        try await change { state, change in
            state.isUnanswered = false
            guard request.epoch == self.epoch else { return }
            switch request.action {
            case .upload:
                state.isUploading = false
                try state.upkeep.refused()
            case .send:
                state.isSending = false
                if let number = request.number { state.outgoing.remove(number) }
            case .uploadSignatures(let body):
                state.isSending = false
                if let number = request.number { try await self.rejected(body, as: number, &state, &change) }
            case .sendAll(let batch):
                state.isSending = false
                if let number = request.number { state.outgoing.remove(number) }
                if let share = batch.share {
                    try await self.answered(share, isAccepted: false, &state, &change, at: now)
                }
            case .claim(let claims):
                state.isClaiming = false
                try await self.rejected(claims, &state, &change, at: now)
            case .query(let query): state.tracker.rejected(query, at: now)
            }
        }
    }

    /// Handles a missing response: the request becomes due again; when to retry is up to the caller.
    public func failed(_ request: CryptoRequest) async throws {
        try await change { state, _ in
            state.isUnanswered = true
            guard request.epoch == self.epoch else { return }
            switch request.action {
            case .upload: state.isUploading = false
            case .send, .sendAll, .uploadSignatures: state.isSending = false
            case .claim: state.isClaiming = false
            case .query(let query): state.tracker.failed(query)
            }
        }
    }

    private func take(
        _ answer: JSONValue, of query: DeviceTracker.Query, _ state: inout State, _ change: inout CryptoChange,
        at now: Date
    ) async throws {
        // This device may have replaced its user's identity since. The next query shows whether another one has.
        let isOwnOld =
            state.own != nil && query.users.contains(user) && state.tracker.hasChanged(user, since: query)
        let current = query.users.filter { !isOwnOld || $0 != user }
        var identities = try await takeIdentities(in: answer, of: current, &state, &change)
        if isOwnOld { identities[user] = state.own }
        let stored = try await storedDevices(of: query.users)
        let known = stored.mapValues(\.devices)
        let lists = state.tracker.apply(
            answer, to: query, known: known, identities: identities, ownUser: user, at: now)
        for user in try await UnconfirmedSessions.owners(among: Set(lists.map(\.user)), in: storage) {
            change.put.append(state.confirmations.begin(user))
        }
        let unlisted = try await UnlistedPeers.change(
            by: lists, known: known, tracker: state.tracker, in: storage, at: now)
        change.put += unlisted.put
        change.removed.formUnion(unlisted.removed)
        for list in lists {
            let written = list.added.union(list.changed).compactMap { list.devices[$0] }
            change.put += try written.map { try $0.record() }
            for id in list.removed { change.removed.insert(CryptoRecord.Key(.device, owner: list.user, id: id)) }
            for record in stored[list.user]?.damaged ?? [] {
                change.put.append(try DamagedRecords.copy(record))
                if list.devices[record.key.id] == nil { change.removed.insert(record.key) }
            }
            // Messages may be waiting for a user's list to be current, even if it is empty or has not changed.
            let isCurrent = state.tracker.isOutdated(list.user) == false
            if isCurrent { state.verifications.keysArrived(of: list.user) }
            if isCurrent || !written.isEmpty || !list.removed.isEmpty || known[list.user]?.isEmpty ?? true {
                state.changedUsers.insert(list.user)
            }
            guard list.user == user else { continue }
            try noteOwnDevice(in: answer, &state, &change)
            try await takeOwnDevices(list, &state, &change)
        }
    }

    /// Detects whether the server has other keys for this device, as when another program uses the same access token.
    /// Those keys are in use: replacing them would make messages unreadable that others encrypt for them.
    ///
    /// If it has none, the device was deleted, as another client can during a soft logout, and signed in again under
    /// the same ID. The keys are uploaded again, but only once until the server lists them: it may never do so.
    private func noteOwnDevice(in answer: JSONValue, _ state: inout State, _ change: inout CryptoChange) throws {
        // A response that does not name the user proves nothing.
        guard let devices = answer["device_keys"]?.object?.member(user)?.object else { return }
        guard let json = devices.member(device) else {
            guard !state.wasUploadedAgain, state.upkeep.isDeviceUploaded else { return }
            state.wasUploadedAgain = true
            return state.upkeep.uploadAgain()
        }
        let (account, keys) = (state.upkeep.account, json["keys"]?.object)
        let isOurs =
            keys?.member(ExactText("curve25519:\(device)"))?.string == "\(account.identityKey)"
            && keys?.member(ExactText("ed25519:\(device)"))?.string == "\(account.signingKey)"
        guard !isOurs else {
            state.wasUploadedAgain = false
            return
        }
        state.isReplaced = true
        change.put.append(CryptoRecord(Self.replacedKey, value: Data([1])))
    }

    private func take(
        _ answer: JSONValue, of claims: [KeyClaim], _ state: inout State, _ change: inout CryptoChange, at now: Date
    ) async throws {
        // A response without `one_time_keys`, or with failures that cannot be read, does not mean that the devices have
        // no keys: messages wait for the next one.
        guard let all = answer["one_time_keys"]?.object, let unreached = answer.failures else {
            return state.claimPause.extend(from: now)
        }
        state.claimPause = RetryDelay()
        let writer = DeviceWriter(user: user, upkeep: state.upkeep)
        let known = try await storedDevices(of: claims.map(\.user))
        let devices = claims.map { claim in known[claim.user]?.devices.first { $0.device == claim.device } }
        var peers = try await OlmPeer.stored(Set(devices.compactMap(\.?.peer)), in: storage, key: key)
        var untold: [(reader: DeviceID, content: JSONValue)] = []
        for (claim, device) in zip(claims, devices) {
            let isRequested = state.requested.remove(claim.id) != nil
            state.claimLimits[claim.id] = nil
            guard unreached.member(claim.user.server) == nil else {
                state.delay(claim, isRequested, from: now)
                if isRequested { untold += Self.noSession(with: claim, device, &peers, writer) }
                continue
            }
            if let number = claim.number {
                state.repairDelays[number] = nil
                state.outgoing.remove(number)
            }
            guard let device, var peer = peers[device.peer],
                let session = try self.session(with: device, in: all, state.upkeep.account)
            else {
                if isRequested {
                    state.claimDelays[claim.id, default: RetryDelay()].extend(from: now)
                    untold += Self.noSession(with: claim, device, &peers, writer)
                }
                continue
            }
            state.claimDelays[claim.id] = nil
            try peer.add(session)
            if claim.number != nil {
                let message = try peer.encrypt(writer.payload("m.dummy", [:], to: device))
                state.outgoing.add(
                    .message(
                        DeviceMessage(
                            type: "m.room.encrypted", transaction: try DeviceWriter.transaction(),
                            user: device.user.text, device: device.device.text,
                            content: Data(try CanonicalJSON.bytes(of: writer.content(of: message, to: device))))))
            }
            peers[device.peer] = peer
        }
        try store(peers, reporting: untold, &state, &change)
    }

    /// Handles a permanent rejection, which a single device may cause: the devices are claimed in requests of half the
    /// size. Messages do not wait for one that was alone.
    private func rejected(
        _ claims: [KeyClaim], _ state: inout State, _ change: inout CryptoChange, at now: Date
    ) async throws {
        for claim in claims { state.claimLimits[claim.id] = (claims.count + 1) / 2 }
        guard claims.count == 1, let claim = claims.first else { return }
        if let number = claim.number { state.outgoing.remove(number) }
        guard state.requested.remove(claim.id) != nil else { return }
        state.claimDelays[claim.id, default: RetryDelay()].extend(from: now)
        let devices = try await storedDevices(of: [claim.user])[claim.user]?.devices ?? []
        guard let device = devices.first(where: { $0.device == claim.device }) else { return }
        var peers = try await OlmPeer.stored([device.peer], in: storage, key: key)
        let writer = DeviceWriter(user: user, upkeep: state.upkeep)
        let untold = Self.noSession(with: claim, device, &peers, writer)
        try store(peers, reporting: untold, &state, &change)
    }

    /// Stores what has changed of the sessions with devices, and reports to others that there is none.
    private func store(
        _ peers: [OlmPeer.ID: OlmPeer], reporting untold: [(reader: DeviceID, content: JSONValue)],
        _ state: inout State, _ change: inout CryptoChange
    ) throws {
        // Merged once: the cost of a merge grows with the whole change.
        change.merge(
            try peers.values.reduce(into: CryptoChange()) { all, peer in
                let one = try peer.change(key: key)
                all.put += one.put
                all.removed.formUnion(one.removed)
            })
        for item in try RoomKeyBatch.batches("m.room_key.withheld", untold) { state.outgoing.add(.batch(item)) }
    }

    /// Establishes a session with the one-time key in a response; `nil` if there is no usable key.
    private func session(
        with device: DeviceKeys, in answer: [String: JSONValue], _ account: OlmAccount
    ) throws -> OlmSession? {
        guard !device.isDisputed, let key = OneTimeKey.verified(in: answer, of: device) else { return nil }
        do {
            return try account.session(with: device.identityKey, oneTimeKey: key)
        } catch RatchetError.key {
            // The key is of small order, with which no session can be established.
            return nil
        }
    }

    /// The `m.room_key.withheld` that reports the missing session to a device, unless it was sent before.
    private static func noSession(
        with claim: KeyClaim, _ device: DeviceKeys?, _ peers: inout [OlmPeer.ID: OlmPeer], _ writer: DeviceWriter
    ) -> [(reader: DeviceID, content: JSONValue)] {
        guard let device, peers[device.peer]?.mayReport() == true else { return [] }
        let content: JSONValue = [
            "algorithm": .string(InboundSession.algorithm), "code": .string(Withheld.noOlm.rawValue),
            "reason": "no session with this device could be begun",
            "sender_key": .string("\(writer.upkeep.account.identityKey)"),
        ]
        return [(claim.id, content)]
    }
}

extension CryptoMachine.State {
    fileprivate func sizeLimit(of claim: KeyClaim) -> Int { claimLimits[claim.id] ?? CryptoMachine.maxClaims }

    /// Delays the next claim for a device that the response does not cover.
    fileprivate mutating func delay(_ claim: KeyClaim, _ isRequested: Bool, from now: Date) {
        if let number = claim.number { repairDelays[number, default: RetryDelay()].extend(from: now) }
        if isRequested { claimDelays[claim.id, default: RetryDelay()].extend(from: now) }
    }
}

/// A one-time or fallback key of a device.
enum OneTimeKey {
    /// A device's key in a `keys/claim` response, if the device has signed it.
    static func verified(in answer: [String: JSONValue], of device: DeviceKeys) -> Curve25519Key? {
        let keys = answer.member(device.user)?.object?.member(device.device)?.object ?? [:]
        // The server sends one; anything beyond the first few is ignored.
        for (name, value) in keys.prefix(5) where name.hasPrefix(KeyClaim.algorithm + ":") {
            guard let object = value.object, let text = object["key"]?.string,
                let key = try? Curve25519Key(base64: text),
                (try? SignedJSON.verify(object, by: device.user, keyID: device.device, key: device.signingKey)) != nil
            else { continue }
            return key
        }
        return nil
    }
}
