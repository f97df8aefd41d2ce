import ChatCore
public import Ratchets

/// The user's secrets on this device.
extension CryptoMachine {
    /// The secrets stored on this device, without keys of a former identity, which another device has replaced.
    public func storedSecrets() async throws -> [SecretName: KeyMaterial] {
        try await change { state, _ in
            var secrets: [SecretName: KeyMaterial] = [:]
            for name in SecretName.allCases { secrets[name] = try await currentSecret(name, state) }
            return secrets
        }
    }

    /// - Returns: `nil` if it is not stored, or if it is a key of a former identity.
    /// - Throws: If it is stored but unreadable, which must not pass for missing.
    func currentSecret(_ name: SecretName, _ state: State) async throws -> KeyMaterial? {
        guard let secret = try await PrivateKeys.stored(name, in: storage, key: key) else { return nil }
        guard name != .backup, let own = state.own, !own.isUnknown, let expected = own.publicKey(of: name) else {
            return secret
        }
        return try SigningKey(seed: secret).publicKey == expected ? secret : nil
    }

    /// Whether a secret is stored, readable or not, and none of a former identity.
    func isStored(_ name: SecretName, _ state: State) async throws -> Bool {
        guard try await storage.cryptoRecord(name.record) != nil else { return false }
        do { return try await currentSecret(name, state) != nil } catch { return true }
    }

    /// Whether this device has lost a secret by damage, and not received it again.
    public func hasLost(_ name: SecretName) async throws -> Bool {
        guard try await storage.cryptoRecord(name.record) == nil else { return false }
        return try await DamagedRecords.hasCopy(of: name.record, in: storage)
    }

    /// Stores a secret that the caller has checked against its public key; `nil` removes it.
    public func store(_ secret: KeyMaterial?, as name: SecretName) async throws {
        try await change { _, change in
            if let secret {
                change.put.append(try PrivateKeys.record(name, secret, key: key))
            } else {
                change.removed.insert(name.record)
            }
        }
    }
}
