public import ChatCore
import Foundation
public import JSONReading
public import Ratchets

/// The identities of users, and the devices that they confirm.
extension CryptoMachine {
    // MARK: Reading

    /// The state of the local user's identity.
    public func ownIdentity() async throws -> EncryptionStatus.Identity {
        try await change { state, _ in state.ownIdentity(isAnswered: state.tracker.isOutdated(user) == false) }
    }

    /// The state of another user's identity.
    public func identity(of other: ExactText) async throws -> UserIdentity {
        try await change { state, _ in
            if let identity = try await Identity.stored(other, in: storage) {
                guard !identity.isUnknown else {
                    state.tracker.noteDamagedIdentity(of: other)
                    return .unknown
                }
                return identity.standing(isOwnConfirmed: state.own?.isVerified ?? false)
            }
            return state.tracker.isOutdated(other) == false ? .none : .unknown
        }
    }

    /// Returns the users whose devices or identities have changed since the last call.
    public func takeChangedUsers() async throws -> Set<ExactText> {
        try await change { state, _ in
            defer { state.changedUsers = [] }
            return state.changedUsers
        }
    }

    /// The local user's devices that have published keys, whether each is confirmed, and their names.
    public func ownDevices() async throws -> [ExactText: (isConfirmed: Bool, name: String)] {
        try await change { state, _ in
            var devices: [ExactText: (isConfirmed: Bool, name: String)] = [:]
            for keys in try await self.devices(of: user, &state.tracker) {
                devices[keys.device] = (state.own?.confirms(keys) ?? false, keys.name ?? "")
            }
            return devices
        }
    }

    /// Marks the local user's device list as outdated, so that it is queried again.
    public func outdateOwnDevices() async throws {
        try await change { state, _ in state.tracker.received(changed: [user], left: []) }
    }

    /// Makes the query of a user's devices due that was put off after failures, if one is needed.
    public func retryQuery(of user: ExactText) async throws {
        try await change { state, _ in state.tracker.retryNow(user) }
    }

    /// This device's fingerprint key, which users may compare.
    public func fingerprint() async throws -> Ed25519Key {
        try await change { state, _ in state.upkeep.account.signingKey }
    }

    // MARK: Changing

    /// Accepts another user's current identity and drops any earlier verification.
    /// - Parameter key: The identity that the local user was asked about.
    /// - Throws: ``VerificationFailure/otherIdentity`` if the user has another one by now.
    public func accept(_ key: IdentityKey, of other: ExactText) async throws {
        try await changeIdentity(of: other) { identity in
            guard identity.key == key else { throw VerificationFailure.otherIdentity }
            identity.accept()
        }
    }

    /// Withdraws the verification of another user. Has no effect if their identity has changed since: it can only be
    /// accepted or verified.
    public func withdrawVerification(of other: ExactText) async throws {
        try await changeIdentity(of: other) { identity in
            // Withdrawing would end the hold, for an identity that the user has not been asked about.
            if !identity.hasChangedAfterVerification { identity.withdraw() }
        }
    }

    private func changeIdentity(of other: ExactText, _ body: (inout Identity) throws -> Void) async throws {
        try await change { state, change in
            guard other != user, var identity = try await Identity.stored(other, in: storage) else { return }
            try body(&identity)
            // Nothing is known that could be stored.
            guard !identity.isUnknown else { return }
            try state.put(identity, of: other, ownUser: user, &change)
        }
    }

    /// Stores the private keys that match the identity published on the server, and signs this device. Unless this
    /// device has verified that identity, it needs the master and the self-signing key, or this changes nothing: anyone
    /// can sign a public self-signing key, so the server could put a master key of its own above the user's.
    /// - Returns: The secrets that match; empty if nothing was changed.
    public func adopt(_ secrets: [SecretName: KeyMaterial]) async throws -> Set<SecretName> {
        try await change { state, change in
            guard var own = state.own else { return [] }
            var adopted: Set<SecretName> = []
            var records: [CryptoRecord] = []
            for name in [SecretName.master, .selfSigning, .userSigning] {
                guard let secret = secrets[name], let expected = own.publicKey(of: name),
                    try SigningKey(seed: secret).publicKey == expected
                else { continue }
                records.append(try PrivateKeys.record(name, secret, key: key))
                adopted.insert(name)
            }
            guard !adopted.isEmpty, own.isVerified || adopted.isSuperset(of: [.master, .selfSigning]) else { return [] }
            change.put += records
            try await confirm(&own, &state, &change)
            if let secret = secrets[.selfSigning], adopted.contains(.selfSigning) {
                try signThisDevice(with: SigningKey(seed: secret), &state)
            }
            if let secret = secrets[.userSigning], adopted.contains(.userSigning) {
                try await uploadDueSignatures(with: secret, &state, &change)
            }
            return adopted
        }
    }

    /// Marks the identity published on the server as proven to be the user's.
    func confirm(_ own: inout Identity, _ state: inout State, _ change: inout CryptoChange) async throws {
        // What a damaged record had verified is not known to be another one: the verifications that it made stay.
        let wasOther = own.hasChangedAfterVerification && !own.isMemoryLost
        let wasConfirmed = own.isVerified
        own.verify()
        try state.put(own, of: user, ownUser: user, &change)
        guard !wasConfirmed else { return }
        // Verifications made with the former identity are void, and the recovery key that was not saved opens its keys.
        if wasOther {
            try await voidVerifications(&change)
            change.removed.insert(Self.unsavedKey)
        }
        // The identity's signatures on other users' keys were ignored until now: query them again.
        state.tracker.invalidateAll()
    }

    /// Signs another user's master key with the user-signing key and queues the upload of the signature.
    /// - Returns: `false` if the key is not the identity's.
    func sign(
        _ identity: Identity, of other: ExactText, with seed: KeyMaterial, _ state: inout State
    ) throws -> Bool {
        let userSigning = try SigningKey(seed: seed)
        guard userSigning.publicKey == state.own?.userSigning,
            let object = try? JSONValue(parsing: identity.masterObject).object
        else { return false }
        let id = ExactText("\(userSigning.publicKey)")
        let signed = try SignedJSON.signed(object, by: user, keyID: id) { try userSigning.sign($0) }
        try state.upload(.object(signed), as: ExactText("\(identity.master)"), of: other)
        return true
    }

    /// Signs the users who were verified while this device lacked the user-signing key.
    func uploadDueSignatures(
        with seed: KeyMaterial, _ state: inout State, _ change: inout CryptoChange
    ) async throws {
        for record in try await storage.cryptoRecords(.identity, owner: nil)
        where record.key != Self.replacedKey && record.key.owner != user {
            // This change may have voided the verification.
            let current = change.put.last { $0.key == record.key } ?? record
            // A damaged record does not count as verified (``Identity/unknown()``).
            guard var identity = try? Identity(record: current), identity.isSignatureDue, identity.isVerified,
                try sign(identity, of: record.key.owner, with: seed, &state)
            else { continue }
            identity.noteSigned()
            change.merge(CryptoChange(put: [try identity.record(of: record.key.owner)]))
        }
    }

    private func voidVerifications(_ change: inout CryptoChange) async throws {
        for record in try await storage.cryptoRecords(.identity, owner: nil)
        where record.key != Self.replacedKey && record.key.owner != user {
            // A damaged record does not count as verified (``Identity/unknown()``).
            guard var identity = try? Identity(record: record) else { continue }
            identity.voidVerification()
            change.merge(CryptoChange(put: [try identity.record(of: record.key.owner)]))
        }
    }

    // MARK: Making an identity

    /// Creates an identity, whose secrets are stored before this returns. Returns the same one until
    /// ``commitIdentity()``.
    public func stageIdentity() async throws -> StagedIdentity {
        try await change { state, change in
            var secrets: [SecretName: KeyMaterial] = [:]
            for name in SecretName.identity {
                if let staged = try await PrivateKeys.stored(name, isStaged: true, in: storage, key: key) {
                    secrets[name] = staged
                } else {
                    let made = try SigningKey().seed
                    secrets[name] = made
                    change.put.append(try PrivateKeys.record(name, made, isStaged: true, key: key))
                }
            }
            let backupKey = try await stageBackupKey(&change)
            secrets[.backup] = backupKey
            guard let master = try secrets[.master].map({ try SigningKey(seed: $0) }),
                let selfSigning = try secrets[.selfSigning].map({ try SigningKey(seed: $0) }),
                let userSigning = try secrets[.userSigning].map({ try SigningKey(seed: $0) })
            else { throw RatchetError.argument }
            let account = state.upkeep.account
            let masterObject = try SignedJSON.signed(
                CrossSigningKey.object(master.publicKey, of: user, for: .master), by: user, keyID: device
            ) { try account.sign($0) }
            func signed(_ key: SigningKey, _ usage: CrossSigningKey.Usage) throws -> JSONValue {
                let object = CrossSigningKey.object(key.publicKey, of: user, for: usage)
                let id = ExactText("\(master.publicKey)")
                return .object(try SignedJSON.signed(object, by: user, keyID: id) { try master.sign($0) })
            }
            let upload: JSONValue = [
                "master_key": .object(masterObject), "self_signing_key": try signed(selfSigning, .selfSigning),
                "user_signing_key": try signed(userSigning, .userSigning),
            ]
            return StagedIdentity(upload: upload, secrets: secrets, backupKey: backupKey)
        }
    }

    /// Whether an identity is staged that the server is not known to have.
    public func hasStagedIdentity() async throws -> Bool {
        try await storage.cryptoRecord(PrivateKeys.key(.master, isStaged: true)) != nil
    }

    /// Commits the staged identity, which the server has accepted. Also marks its recovery key as unsaved and its
    /// backup as pending, in case the process ends before the user and the server have them.
    public func commitIdentity() async throws {
        try await change { state, change in try await self.commitIdentity(&state, &change) }
    }

    private func commitIdentity(_ state: inout State, _ change: inout CryptoChange) async throws {
        var seeds: [SecretName: KeyMaterial] = [:]
        for name in SecretName.identity {
            seeds[name] = try await PrivateKeys.stored(name, isStaged: true, in: storage, key: key)
        }
        // All or none: a damaged one may have been removed.
        let keys = try seeds.mapValues { try SigningKey(seed: $0) }
        guard let master = keys[.master]?.publicKey, let selfSigning = keys[.selfSigning],
            let userSigning = keys[.userSigning]?.publicKey
        else { return }
        for (name, seed) in seeds {
            change.put.append(try PrivateKeys.record(name, seed, key: key))
            change.removed.insert(PrivateKeys.key(name, isStaged: true))
        }
        let own = try Identity(
            own: master, of: user, selfSigning: selfSigning.publicKey, userSigning: userSigning)
        try state.put(own, of: user, ownUser: user, &change)
        try await voidVerifications(&change)
        // The stored backup key belongs to the former identity.
        try await voidBackups(state, &change)
        change.removed.insert(SecretName.backup.record)
        try await prepareStagedBackupKey(&change)
        change.put.append(Self.unsavedRecord)
        try signThisDevice(with: selfSigning, &state)
        state.tracker.invalidateAll()
    }

    /// Signs this device with the self-signing key and queues the upload of the signature.
    private func signThisDevice(with selfSigning: SigningKey, _ state: inout State) throws {
        let object = try SignedJSON.signed(
            state.upkeep.deviceKeys(), by: user, keyID: ExactText("\(selfSigning.publicKey)")
        ) { try selfSigning.sign($0) }
        try state.upload(.object(object), as: device, of: user)
    }

    // MARK: Answers

    /// Applies the identities in a `keys/query` response.
    /// - Returns: The identities known afterwards.
    func takeIdentities(
        in answer: JSONValue, of users: [ExactText], _ state: inout State, _ change: inout CryptoChange
    ) async throws -> [ExactText: Identity] {
        let stored = try await Identity.stored(users, in: storage)
        var identities: [ExactText: Identity] = [:]
        // The local user's identity first: its user-signing key verifies the others.
        for other in users.filter({ $0 == user }) + users.filter({ $0 != user }) {
            let known = other == user ? state.own : stored[other]
            let verifier = state.own.flatMap { $0.isVerified ? $0.userSigning : nil }
            let updated = Identity.updated(
                known, of: other, by: answer, ownUser: user, ownUserSigning: verifier)
            identities[other] = updated
            if let known, known.isUnknown, updated?.isUnknown == false,
                let record = try await storage.cryptoRecord(Identity.key(other)),
                (try? Identity(record: record)) == nil
            {
                change.put.append(try DamagedRecords.copy(record))
            }
            if let updated, updated != known { try state.put(updated, of: other, ownUser: user, &change) }
        }
        return identities
    }

    /// Applies the local user's device list: updates what confirms this device, and completes interrupted uploads.
    func takeOwnDevices(
        _ list: DeviceListChange, _ state: inout State, _ change: inout CryptoChange
    ) async throws {
        state.confirmedBy = list.devices[device]?.confirmedBy
        try await uploadSignaturesAgain(&state, &change)
        if let own = state.own,
            let staged = try await PrivateKeys.stored(.master, isStaged: true, in: storage, key: key),
            try SigningKey(seed: staged).publicKey == own.master
        {
            // The response to the identity's upload was lost.
            try await commitIdentity(&state, &change)
        }
        // The signature that confirms this device may not have reached the server.
        guard let own = state.own, own.isVerified, let keys = list.devices[device], !own.confirms(keys),
            !keys.isDisputed, !state.outgoing.holdsSignature(of: DeviceID(user: user, device: device)),
            let seed = try await PrivateKeys.stored(.selfSigning, in: storage, key: key)
        else { return }
        let selfSigning = try SigningKey(seed: seed)
        if selfSigning.publicKey == own.selfSigning { try signThisDevice(with: selfSigning, &state) }
    }
}

/// An identity that the server may not have yet.
public struct StagedIdentity: Sendable {
    /// The body of a `keys/device_signing/upload`.
    public let upload: JSONValue
    /// Includes the backup's key. The secrets stay staged until ``CryptoMachine/commitIdentity()``, or until a key
    /// query returns the identity.
    public let secrets: [SecretName: KeyMaterial]
    public let backupKey: KeyMaterial
}

extension SecretName {
    /// The private keys of an identity.
    static let identity: [SecretName] = [.master, .selfSigning, .userSigning]
}

extension Identity {
    func publicKey(of name: SecretName) -> Ed25519Key? {
        switch name {
        case .master: master
        case .selfSigning: selfSigning
        case .userSigning: userSigning
        case .backup: nil
        }
    }

    fileprivate var key: IdentityKey { IdentityKey("\(master)") }

    fileprivate func standing(isOwnConfirmed: Bool) -> UserIdentity {
        if hasChangedAfterVerification { return .changedAfterVerification(to: key) }
        if isVerified, isOwnConfirmed { return .verified }
        return hasChanged ? .changed(to: key) : .unverified
    }
}

extension CryptoMachine.State {
    fileprivate func ownIdentity(isAnswered: Bool) -> EncryptionStatus.Identity {
        guard let own else { return isAnswered ? .none : .unknown }
        if own.isOwnReplaced { return .replaced }
        guard own.isVerified, let confirmedBy, confirmedBy == own.selfSigning else { return .unconfirmed }
        return .confirmed
    }

    /// Whether keys and secrets may be sent to this device of the local user.
    func ownConfirms(_ keys: DeviceKeys) -> Bool { own.map { $0.isVerified && $0.confirms(keys) } ?? false }

    mutating func put(
        _ identity: Identity, of other: ExactText, ownUser: ExactText, _ change: inout CryptoChange
    ) throws {
        change.merge(CryptoChange(put: [try identity.record(of: other)]))
        if other == ownUser { own = identity }
        changedUsers.insert(other)
        tracker.noteTrustChanged()
    }

    /// Queues a signed object for `keys/signatures/upload`.
    mutating func upload(_ object: JSONValue, as id: ExactText, of user: ExactText) throws {
        let body: JSONValue = .object([user.text: .object([id.text: object])])
        outgoing.add(.signatures(Data(try CanonicalJSON.bytes(of: body))))
    }
}
