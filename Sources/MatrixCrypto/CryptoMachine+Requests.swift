import ChatCore
public import Foundation
public import JSONReading
import Ratchets

extension CryptoMachine {
    /// Devices in one `keys/claim`.
    static let maxClaims = 100

    /// What to ask the server next, if anything is to be asked now. What it is made of is on the disk already.
    public func nextRequest(at now: Date) async throws -> CryptoRequest? {
        guard let action = try await change({ state, _ in try await self.nextAction(&state, at: now) }) else {
            return nil
        }
        return CryptoRequest(action: action.action, epoch: epoch, number: action.number)
    }

    private func nextAction(
        _ state: inout State, at now: Date
    ) async throws -> (action: CryptoRequest.Action, number: UInt64?)? {
        if !state.isReplaced {
            // Before the first upload, whether the server has keys of another program for this device.
            let mayUpload = state.upkeep.isDeviceUploaded || state.tracker.isOutdated(user) == false
            if mayUpload, !state.isUploading, let upload = try state.upkeep.nextUpload() {
                state.isUploading = true
                return (.upload(Array(upload)), nil)
            }
            if !state.isSending, let next = state.outgoing.nextMessage {
                state.isSending = true
                return (.send(next.message), next.number)
            }
            if !state.isClaiming {
                let claims = try await claims(for: &state, at: now)
                if !claims.isEmpty {
                    state.isClaiming = true
                    return (.claim(claims), nil)
                }
            }
        }
        return state.tracker.nextQuery(at: now).map { (.query($0), nil) }
    }

    /// When ``nextRequest(at:)`` is worth another call though nothing was received.
    public func nextAttempt(after now: Date) async throws -> Date? {
        try await change { state, _ in
            ([state.tracker.nextAttempt(after: now)] + state.repairDelays.values.map(\.until))
                .compactMap(\.self).filter { $0 > now }.min()
        }
    }

    /// The keys to claim for new sessions with devices whose messages nothing reads.
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
            if devices[user] == nil { devices[user] = try await self.devices(of: user) }
            if let device = devices[user]?.first(where: { $0.identityKey.bytes == identityKey }) {
                claims.append(KeyClaim(user: user, device: device.device, number: number))
            } else {
                // Nobody's device, as far as the user says: whoever it is has to begin a session.
                state.outgoing.remove(number)
            }
        }
        return claims
    }

    // MARK: Answers

    /// The server took the request.
    public func answered(_ request: CryptoRequest, with answer: JSONValue, at now: Date) async throws {
        try await change { state, change in
            guard request.epoch == self.epoch else { return }
            switch request.action {
            case .upload:
                state.isUploading = false
                try state.upkeep.uploaded(answer: answer)
            case .send:
                state.isSending = false
                if let number = request.number { state.outgoing.remove(number) }
            case .claim(let claims):
                state.isClaiming = false
                try await self.take(answer, of: claims, &state, &change, at: now)
            case .query(let query): try await self.take(answer, of: query, &state, &change, at: now)
            }
        }
    }

    /// The server refused the request for good: the same is not asked again.
    public func refused(_ request: CryptoRequest, at now: Date) async throws {
        try await change { state, change in
            guard request.epoch == self.epoch else { return }
            switch request.action {
            case .upload:
                state.isUploading = false
                try state.upkeep.refused()
            case .send:
                state.isSending = false
                if let number = request.number { state.outgoing.remove(number) }
            case .claim(let claims):
                state.isClaiming = false
                for claim in claims { state.outgoing.remove(claim.number) }
            // As an answer without any devices in it: asked again later and later.
            case .query(let query): try await self.take(.null, of: query, &state, &change, at: now)
            }
        }
    }

    /// There was no answer: the same is asked again, when the caller finds it time to.
    public func failed(_ request: CryptoRequest) async throws {
        try await change { state, _ in
            guard request.epoch == self.epoch else { return }
            switch request.action {
            case .upload: state.isUploading = false
            case .send: state.isSending = false
            case .claim: state.isClaiming = false
            case .query(let query): state.tracker.failed(query)
            }
        }
    }

    private func take(
        _ answer: JSONValue, of query: DeviceTracker.Query, _ state: inout State, _ change: inout CryptoChange,
        at now: Date
    ) async throws {
        var known: [ExactText: [DeviceKeys]] = [:]
        for user in query.users { known[user] = try await devices(of: user) }
        for list in state.tracker.apply(answer, to: query, known: known, at: now) {
            for id in list.added { if let device = list.devices[id] { change.put.append(try device.record()) } }
            for id in list.removed { change.removed.insert(CryptoRecord.Key(.device, owner: list.user, id: id)) }
            if list.user == user { try noteOwnDevice(in: answer, &state, &change) }
        }
    }

    /// Notes if the server has other keys for this device, as where a token is another program's: those are in use, and
    /// what others encrypt with them is not for us to replace.
    private func noteOwnDevice(in answer: JSONValue, _ state: inout State, _ change: inout CryptoChange) throws {
        let devices = answer["device_keys"]?.object?.member(user)?.object
        guard let json = devices?.member(device) else { return }
        let (account, keys) = (state.upkeep.account, json["keys"]?.object)
        let isOurs =
            keys?.member(ExactText("curve25519:\(device)"))?.string == "\(account.identityKey)"
            && keys?.member(ExactText("ed25519:\(device)"))?.string == "\(account.signingKey)"
        guard !isOurs else { return }
        state.isReplaced = true
        change.put.append(CryptoRecord(Self.replacedKey, value: Data([1])))
    }

    private func take(
        _ answer: JSONValue, of claims: [KeyClaim], _ state: inout State, _ change: inout CryptoChange, at now: Date
    ) async throws {
        guard let all = answer["one_time_keys"]?.object else {
            for claim in claims { state.repairDelays[claim.number, default: RetryDelay()].extend(from: now) }
            return
        }
        let unreached = answer["failures"]?.object ?? [:]
        for claim in claims {
            if unreached.member(claim.user.server) != nil {
                state.repairDelays[claim.number, default: RetryDelay()].extend(from: now)
                continue
            }
            state.repairDelays[claim.number] = nil
            state.outgoing.remove(claim.number)
            let device = try await devices(of: claim.user).first { $0.device == claim.device }
            guard let device, let key = OneTimeKey.verified(in: all, of: device) else { continue }
            var peer = try await OlmPeer(device.identityKey, in: storage, key: self.key)
            let session: OlmSession
            do {
                session = try state.upkeep.account.session(with: device.identityKey, oneTimeKey: key)
            } catch RatchetError.key {
                // A key of small order: there is no session with it.
                continue
            }
            let message = try seal("m.dummy", [:], to: device, with: session, state.upkeep)
            try peer.add(session)
            change.merge(try peer.change(key: self.key))
            state.outgoing.add(.message(message))
        }
    }

    /// Encrypts a message to a device. The session and the message are stored before it leaves.
    private func seal(
        _ type: String, _ content: JSONValue, to device: DeviceKeys, with session: OlmSession, _ upkeep: KeyUpkeep
    ) throws -> DeviceMessage {
        let payload: JSONValue = [
            "type": .string(type), "content": content, "sender": .string(user.text),
            "recipient": .string(device.user.text), "recipient_keys": ["ed25519": .string("\(device.signingKey)")],
            "keys": ["ed25519": .string("\(upkeep.account.signingKey)")],
            "sender_device_keys": .object(try upkeep.deviceKeys()),
        ]
        let message = try session.encrypt(CanonicalJSON.bytes(of: payload))
        let sealed: JSONValue = [
            "algorithm": "m.olm.v1.curve25519-aes-sha2", "sender_key": .string("\(upkeep.account.identityKey)"),
            "ciphertext": .object([
                "\(device.identityKey)": [
                    "type": .integer(Int64(message.kind.rawValue)), "body": .string(Base64.encoded(message.bytes)),
                ]
            ]),
        ]
        // No such characters in a path.
        let transaction = Base64.encoded(try Randomness.bytes(16)).filter { $0 != "/" && $0 != "+" }
        return DeviceMessage(
            type: "m.room.encrypted", transaction: transaction, user: device.user.text, device: device.device.text,
            content: Data(try CanonicalJSON.bytes(of: sealed)))
    }
}

/// A one-time or fallback key of a device.
enum OneTimeKey {
    /// The key that an answer to `keys/claim` has for a device, if the device has signed it.
    static func verified(in answer: [String: JSONValue], of device: DeviceKeys) -> Curve25519Key? {
        let keys = answer.member(device.user)?.object?.member(device.device)?.object ?? [:]
        // The server sends one; more than a few are not looked at.
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
