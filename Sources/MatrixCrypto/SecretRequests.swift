import ChatCore
import Foundation
import JSONReading
public import Ratchets

/// Secret requests to and from the user's other devices. They are in memory only: missing secrets are requested again
/// after a restart.
struct SecretRequests {
    /// This device's requests by request ID. A secret that answers none of them is rejected.
    var open: [String: SecretName] = [:]
    /// The last backup whose key was requested in place of a former one.
    var requestedBackup: Curve25519Key?
    /// Requests from other devices, pending until those are confirmed.
    private(set) var requested: [Wish] = []

    struct Wish: Equatable {
        let device: ExactText
        let request: String
        let name: SecretName
    }

    private static let maxRequested = 64

    mutating func add(_ wish: Wish) {
        guard !requested.contains(wish) else { return }
        requested.append(wish)
        if requested.count > Self.maxRequested { requested.removeFirst() }
    }

    mutating func remove(_ wish: Wish) { requested.removeAll { $0 == wish } }

    mutating func remove(_ request: String, of device: ExactText) {
        requested.removeAll { $0.request == request && $0.device == device }
    }
}

/// Secret sharing between the user's confirmed devices.
extension CryptoMachine {
    /// The record of a backup key from another device, until it is compared with the backup.
    private static let unprovenBackup = PrivateKeys.key(.backup, isStaged: true)

    /// Requests the missing secrets from the confirmed devices.
    public func requestMissingSecrets() async throws {
        try await change { state, _ in
            let devices = try await otherConfirmedDevices(&state)
            try await requestSecrets(of: devices, &state)
        }
    }

    private func otherConfirmedDevices(_ state: inout State) async throws -> [ExactText] {
        let devices = try await devices(of: user, &state.tracker)
        return devices.filter { $0.device != device && state.ownConfirms($0) }.map(\.device)
    }

    func requestSecrets(of devices: [ExactText], _ state: inout State) async throws {
        guard !devices.isEmpty, state.own?.isVerified == true else { return }
        for name in SecretName.allCases where try await !isStored(name, state) {
            // Which backup is the current one is not known here.
            if name == .backup { state.secretRequests.requestedBackup = nil }
            try request(name, of: devices, &state)
        }
    }

    /// Why the key of a certain backup is requested.
    public enum BackupKeyRequest: Sendable {
        /// The stored key may be that of another backup; a missing one is requested already. Requested once per backup:
        /// a device that only has the former key would send that one again and again.
        case replaced
        /// A device has sent the key of another backup. Requested once per backup as well.
        case rejected
        /// The user needs it now.
        case needed
    }

    /// Requests the key of a backup from the confirmed devices, unless it is stored.
    public func requestBackupKey(for publicKey: Curve25519Key, as reason: BackupKeyRequest) async throws {
        try await change { state, _ in
            let known = try await PrivateKeys.stored(.backup, in: storage, key: key)
            if let known, try BackupKey(known).publicKey == publicKey { return }
            let isNew = state.secretRequests.requestedBackup != publicKey
            switch reason {
            case .replaced: guard isNew, known != nil else { return }
            case .rejected: guard isNew else { return }
            case .needed: break
            }
            let devices = try await otherConfirmedDevices(&state)
            guard !devices.isEmpty, state.own?.isVerified == true else { return }
            state.secretRequests.requestedBackup = publicKey
            try request(.backup, of: devices, &state)
        }
    }

    private func request(_ name: SecretName, of devices: [ExactText], _ state: inout State) throws {
        let request = try DeviceWriter.transaction()
        state.secretRequests.open[request] = name
        for device in devices {
            try state.send(
                [
                    "action": "request", "name": .string(name.rawValue), "request_id": .string(request),
                    "requesting_device_id": .string(self.device.text),
                ], to: device, of: user)
        }
    }

    /// Processes an `m.secret.request`, which is sent in the clear.
    func takeSecretRequest(_ content: JSONValue, from sender: ExactText, _ state: inout State) {
        guard sender == user, let asking = content["requesting_device_id"]?.exactText, asking != device,
            asking.bytes.count <= DeviceKeys.maxIdentifier, let request = content["request_id"]?.string,
            request.utf8.count <= 255
        else { return }
        guard content["action"]?.string == "request" else {
            return state.secretRequests.remove(request, of: asking)
        }
        guard let name = content["name"]?.string.flatMap({ SecretName(rawValue: $0) }) else { return }
        state.secretRequests.add(SecretRequests.Wish(device: asking, request: request, name: name))
    }

    /// Answers the requests of confirmed devices; others stay pending until the device is confirmed or the program
    /// ends. Call it in a change of its own: it loads sessions from the storage, which lacks the change's own updates.
    func answerSecretRequests(_ state: inout State, _ change: inout CryptoChange, at now: Date) async throws {
        guard !state.secretRequests.requested.isEmpty, !state.isReplaced else { return }
        let known = try await devices(of: user, &state.tracker)
        let writer = DeviceWriter(user: user, upkeep: state.upkeep)
        // One message per device and change: the session is loaded from the storage each time.
        var answered: Set<ExactText> = []
        for wish in state.secretRequests.requested where !answered.contains(wish.device) {
            guard let keys = known.first(where: { $0.device == wish.device }), state.ownConfirms(keys) else { continue }
            guard let secret = try await currentSecret(wish.name, state) else {
                state.secretRequests.remove(wish)
                continue
            }
            var peer = try await OlmPeer(keys.peer, in: storage, key: key)
            guard peer.hasSession else {
                // Claims come before queries: without the delay, a device without a key would be claimed for ever.
                let id = DeviceID(user: user, device: keys.device)
                let delay = state.claimDelays[id]?.until ?? .distantPast
                if delay <= now, state.tracker.isOutdated(user) == false { state.requested.insert(id) }
                continue
            }
            let bytes = secret.withBytes { Array(UnsafeBufferPointer(start: $0, count: KeyMaterial.count)) }
            let content: JSONValue = [
                "request_id": .string(wish.request), "secret": .string(Base64.encoded(bytes)),
            ]
            let message = try peer.encrypt(writer.payload("m.secret.send", content, to: keys))
            state.outgoing.add(
                .message(
                    DeviceMessage(
                        type: "m.room.encrypted", transaction: try DeviceWriter.transaction(), user: user.text,
                        device: keys.device.text,
                        content: Data(try CanonicalJSON.bytes(of: writer.content(of: message, to: keys))))))
            change.merge(try peer.change(key: key))
            state.secretRequests.remove(wish)
            answered.insert(keys.device)
        }
    }

    /// Processes an `m.secret.send`, which came through Olm.
    /// - Returns: The secret, if this device requested it, the sender is a confirmed device of the user, and it matches
    ///   the corresponding public key. A backup key waits in ``unprovenBackupKey()`` until it is compared.
    func takeSecret(
        _ content: JSONValue, from owner: InboundSession.Owner, _ state: inout State, _ change: inout CryptoChange
    ) async throws -> SecretName? {
        guard ExactText(owner.user) == user, let request = content["request_id"]?.string,
            let name = state.secretRequests.open[request], let text = content["secret"]?.string,
            let bytes = try? Base64.decoded(text), bytes.count == KeyMaterial.count
        else { return nil }
        let sender = try await devices(of: user, &state.tracker).first {
            $0.identityKey.bytes == owner.identityKey && $0.signingKey.bytes == owner.signingKey
        }
        guard let sender, state.ownConfirms(sender), let own = state.own else { return nil }
        let secret = try KeyMaterial(bytes: bytes)
        if name != .backup {
            guard let expected = own.publicKey(of: name), try SigningKey(seed: secret).publicKey == expected else {
                return nil
            }
        } else if let requested = state.secretRequests.requestedBackup,
            try BackupKey(secret).publicKey != requested
        {
            // A device that only has the former key may answer first: the request stays open for the others.
            return nil
        }
        state.secretRequests.open[request] = nil
        change.put.append(try PrivateKeys.record(name, secret, isStaged: name == .backup, key: key))
        if name == .userSigning { try await uploadDueSignatures(with: secret, &state, &change) }
        return name
    }

    /// The backup key sent by another device, which the caller has to compare with the backup.
    public func unprovenBackupKey() async throws -> KeyMaterial? {
        try await PrivateKeys.stored(.backup, isStaged: true, in: storage, key: key)
    }

    /// Stores a backup key that could not be compared with the backup yet.
    public func stageUnprovenBackupKey(_ secret: KeyMaterial) async throws {
        let record = try PrivateKeys.record(.backup, secret, isStaged: true, key: key)
        try await change { _, change in change.put.append(record) }
    }

    /// Removes the key that was compared, unless another one has arrived since.
    public func dropUnprovenBackupKey(_ compared: KeyMaterial) async throws {
        try await change { _, change in
            guard let known = try await unprovenBackupKey(), known.isEqual(to: compared) else { return }
            change.removed.insert(Self.unprovenBackup)
        }
    }
}

extension CryptoMachine.State {
    fileprivate mutating func send(_ content: JSONValue, to device: ExactText, of user: ExactText) throws {
        outgoing.add(
            .message(
                DeviceMessage(
                    type: "m.secret.request", transaction: try DeviceWriter.transaction(), user: user.text,
                    device: device.text, content: Data(try CanonicalJSON.bytes(of: content)))))
    }
}
