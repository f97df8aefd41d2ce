public import ChatCore
import Foundation
public import JSONReading
public import Ratchets

/// The identities of users, and which of their devices they have confirmed.
extension CryptoMachine {
    // MARK: Reading

    /// How the identity of the own user stands.
    public func ownIdentity() async throws -> EncryptionStatus.Identity {
        try await change { state, _ in state.ownIdentity(isAnswered: state.tracker.isOutdated(user) == false) }
    }

    /// What is known of another user's identity.
    public func identity(of other: ExactText) async throws -> UserIdentity {
        try await change { state, _ in
            if let identity = try await Identity.stored(other, in: storage) {
                return identity.standing(isOwnConfirmed: state.own?.isVerified ?? false)
            }
            return state.tracker.isOutdated(other) == false ? .none : .unknown
        }
    }

    /// What is to be known of the identities of these users, who are members of a room.
    public func trust(of members: [ExactText]) async throws -> RoomTrust {
        try await change { state, _ in
            let identities = try await Identity.stored(members, in: storage)
            var trust = RoomTrust()
            for member in members {
                let id = MemberID(member.text)
                guard let identity = identities[member] else {
                    if member != user, state.tracker.isOutdated(member) == false { trust.withoutIdentity.append(id) }
                    continue
                }
                if identity.hasChangedAfterVerification { trust.holding.append(id) }
                if member != user, identity.hasChanged { trust.changed.append(id) }
            }
            return trust
        }
    }

    /// Returns the users whose devices or identities have changed since the last call.
    public func takeChangedUsers() async throws -> Set<ExactText> {
        try await change { state, _ in
            defer { state.changedUsers = [] }
            return state.changedUsers
        }
    }

    /// Which devices of the own user are confirmed, of those that have keys.
    public func ownDevices() async throws -> [ExactText: (isConfirmed: Bool, name: String)] {
        try await change { state, _ in
            var devices: [ExactText: (isConfirmed: Bool, name: String)] = [:]
            for keys in try await self.devices(of: user) {
                devices[keys.device] = (state.own?.confirms(keys) ?? false, keys.name ?? "")
            }
            return devices
        }
    }

    /// Asks for the devices of the own user again.
    public func outdateOwnDevices() async throws {
        try await change { state, _ in state.tracker.received(changed: [user], left: []) }
    }

    private static let unsavedKey = CryptoRecord.Key(.position, id: "recoveryKeyUnsaved")
    private static let unsavedRecord = CryptoRecord(unsavedKey, value: Data([1]))

    /// Whether the user has not said yet that the identity's recovery key is saved.
    public func isRecoveryKeyUnsaved() async throws -> Bool {
        try await storage.cryptoRecord(Self.unsavedKey) != nil
    }

    public func setRecoveryKeyUnsaved(_ isUnsaved: Bool) async throws {
        try await change { _, change in
            if isUnsaved {
                change.put.append(Self.unsavedRecord)
            } else {
                change.removed.insert(Self.unsavedKey)
            }
        }
    }

    /// The key that names this device to people, who may compare it.
    public func fingerprint() async throws -> Ed25519Key {
        try await change { state, _ in state.upkeep.account.signingKey }
    }

    /// Which secrets are stored on this device.
    public func storedSecrets() async throws -> [SecretName: KeyMaterial] {
        var secrets: [SecretName: KeyMaterial] = [:]
        for name in SecretName.allCases {
            secrets[name] = try await PrivateKeys.stored(name, in: storage, key: key)
        }
        return secrets
    }

    /// Stores a secret that the caller has compared with what is public of it.
    public func store(_ secret: KeyMaterial?, as name: SecretName) async throws {
        try await change { _, change in
            if let secret {
                change.put.append(try PrivateKeys.record(name, secret, key: key))
            } else {
                change.removed.insert(name.record)
            }
        }
    }

    // MARK: Changing

    /// Takes the identity that a user has now for theirs.
    public func accept(_ other: ExactText) async throws {
        try await changeIdentity(of: other) { $0.accept() }
    }

    public func withdrawVerification(of other: ExactText) async throws {
        try await changeIdentity(of: other) { $0.withdraw() }
    }

    private func changeIdentity(of other: ExactText, _ body: (inout Identity) -> Void) async throws {
        try await change { state, change in
            guard other != user, var identity = try await Identity.stored(other, in: storage) else { return }
            body(&identity)
            try state.put(identity, of: other, ownUser: user, &change)
        }
    }

    /// Takes secrets that the user has opened, as far as they are those of the identity that the server names.
    /// - Returns: Those that fit. Only with one of the identity's private keys the identity counts as confirmed.
    public func adopt(_ secrets: [SecretName: KeyMaterial]) async throws -> Set<SecretName> {
        try await change { state, change in
            guard var own = state.own else { return [] }
            var adopted: Set<SecretName> = []
            for name in [SecretName.master, .selfSigning, .userSigning] {
                guard let secret = secrets[name], let expected = own.publicKey(of: name),
                    try SigningKey(seed: secret).publicKey == expected
                else { continue }
                change.put.append(try PrivateKeys.record(name, secret, key: key))
                adopted.insert(name)
            }
            guard !adopted.isEmpty else { return [] }
            try await confirm(&own, &state, &change)
            if let secret = secrets[.selfSigning], adopted.contains(.selfSigning) {
                try signThisDevice(with: SigningKey(seed: secret), &state)
            }
            return adopted
        }
    }

    /// The identity that the server names is proven to be the user's.
    func confirm(_ own: inout Identity, _ state: inout State, _ change: inout CryptoChange) async throws {
        let wasOther = own.hasChangedAfterVerification
        let wasConfirmed = own.isVerified
        own.verify()
        try state.put(own, of: user, ownUser: user, &change)
        guard !wasConfirmed else { return }
        // Who was verified by the former identity has to be verified anew.
        if wasOther { try await voidVerifications(&change) }
        // What it says of others was not looked at before.
        state.tracker.invalidateAll()
    }

    private func voidVerifications(_ change: inout CryptoChange) async throws {
        for record in try await storage.cryptoRecords(.identity, owner: nil)
        where record.key != Self.replacedKey && record.key.owner != user {
            var identity = try Identity(record: record)
            identity.voidVerification()
            change.merge(CryptoChange(put: [try identity.record(of: record.key.owner)]))
        }
    }

    // MARK: Making an identity

    /// A new identity whose secrets are on the disk when this returns. The same until ``commitIdentity()``.
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

    /// The server has taken the staged identity. Until the user has its recovery key and the server its backup, this device
    /// knows that they are missing: the process may end before.
    public func commitIdentity() async throws {
        try await change { state, change in try await self.commitIdentity(&state, &change) }
    }

    private func commitIdentity(_ state: inout State, _ change: inout CryptoChange) async throws {
        var keys: [SecretName: SigningKey] = [:]
        for name in SecretName.identity {
            guard let staged = try await PrivateKeys.stored(name, isStaged: true, in: storage, key: key) else { return }
            keys[name] = try SigningKey(seed: staged)
            change.put.append(try PrivateKeys.record(name, staged, key: key))
            change.removed.insert(PrivateKeys.key(name, isStaged: true))
        }
        guard let master = keys[.master]?.publicKey, let selfSigning = keys[.selfSigning],
            let userSigning = keys[.userSigning]?.publicKey
        else { return }
        let own = try Identity(
            own: master, of: user, selfSigning: selfSigning.publicKey, userSigning: userSigning)
        try state.put(own, of: user, ownUser: user, &change)
        try await voidVerifications(&change)
        // The backup's key belongs to what was before.
        change.removed.insert(SecretName.backup.record)
        try await prepareStagedBackupKey(&change)
        change.put.append(Self.unsavedRecord)
        try signThisDevice(with: selfSigning, &state)
        state.tracker.invalidateAll()
    }

    /// Has the server told that this device is confirmed.
    private func signThisDevice(with selfSigning: SigningKey, _ state: inout State) throws {
        let object = try SignedJSON.signed(
            state.upkeep.deviceKeys(), by: user, keyID: ExactText("\(selfSigning.publicKey)")
        ) { try selfSigning.sign($0) }
        try state.upload(.object(object), as: device, of: user)
    }

    // MARK: Answers

    /// Takes what an answer to `keys/query` says of identities.
    /// - Returns: Those that are known now.
    func takeIdentities(
        in answer: JSONValue, of users: [ExactText], _ state: inout State, _ change: inout CryptoChange
    ) async throws -> [ExactText: Identity] {
        let stored = try await Identity.stored(users, in: storage)
        var identities: [ExactText: Identity] = [:]
        // One's own first: it says which others are verified.
        for other in users.filter({ $0 == user }) + users.filter({ $0 != user }) {
            let known = other == user ? state.own : stored[other]
            let verifier = state.own.flatMap { $0.isVerified ? $0.userSigning : nil }
            let updated = Identity.updated(
                known, of: other, by: answer, ownUser: user, ownUserSigning: verifier)
            identities[other] = updated
            if let updated, updated != known { try state.put(updated, of: other, ownUser: user, &change) }
        }
        return identities
    }

    /// Takes which devices of the own user are confirmed.
    func takeOwnDevices(
        _ list: DeviceListChange, _ state: inout State, _ change: inout CryptoChange
    ) async throws {
        state.confirmedBy = list.devices[device]?.confirmedBy
        if let own = state.own,
            let staged = try await PrivateKeys.stored(.master, isStaged: true, in: storage, key: key),
            try SigningKey(seed: staged).publicKey == own.master
        {
            // The answer to its upload was lost.
            try await commitIdentity(&state, &change)
        }
        // What was to confirm this device may not have arrived.
        guard let own = state.own, own.isVerified, let keys = list.devices[device], !own.confirms(keys),
            !keys.isDisputed, !state.outgoing.holdsSignatures,
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
    /// With the backup's key. They are no longer staged once an answer to a key query has the identity.
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

    fileprivate func standing(isOwnConfirmed: Bool) -> UserIdentity {
        if hasChangedAfterVerification { return .changedAfterVerification }
        if isVerified, isOwnConfirmed { return .verified }
        return hasChanged ? .changed : .unverified
    }
}

extension CryptoMachine.State {
    fileprivate func ownIdentity(isAnswered: Bool) -> EncryptionStatus.Identity {
        guard let own else { return isAnswered ? .none : .unknown }
        if own.hasChangedAfterVerification { return .replaced }
        guard own.isVerified, let confirmedBy, confirmedBy == own.selfSigning else { return .unconfirmed }
        return .confirmed
    }

    /// Whether a device of the own user is one that keys and secrets may go to.
    func ownConfirms(_ keys: DeviceKeys) -> Bool { own.map { $0.isVerified && $0.confirms(keys) } ?? false }

    mutating func put(
        _ identity: Identity, of other: ExactText, ownUser: ExactText, _ change: inout CryptoChange
    ) throws {
        change.merge(CryptoChange(put: [try identity.record(of: other)]))
        if other == ownUser { own = identity }
        changedUsers.insert(other)
        tracker.noteTrustChanged()
    }

    /// Has the server told that something is signed.
    mutating func upload(_ object: JSONValue, as id: ExactText, of user: ExactText) throws {
        let body: JSONValue = .object([user.text: .object([id.text: object])])
        outgoing.add(.signatures(Data(try CanonicalJSON.bytes(of: body))))
    }
}
