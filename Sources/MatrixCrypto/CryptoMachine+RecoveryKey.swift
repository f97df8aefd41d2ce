public import ChatCore
import Foundation
public import Ratchets

/// Recovery keys that the user may not have saved yet.
extension CryptoMachine {
    /// A new sign-in does not remove it: the identity's keys stay as well.
    static let unsavedKey = CryptoRecord.Key(.position, id: "recoveryKeyUnsaved")
    static let unsavedRecord = CryptoRecord(unsavedKey, value: Data([1]))
    static let recoveryKeyOwner: ExactText = "recovery"
    static let recoveryKeyName = "m.secret_storage.key"

    /// Whether the user has yet to confirm that the identity's recovery key is saved.
    public func isRecoveryKeyUnsaved() async throws -> Bool {
        try await storage.cryptoRecord(Self.unsavedKey) != nil
    }

    /// Once the key is saved, the staged ones are removed.
    public func setRecoveryKeyUnsaved(_ isUnsaved: Bool) async throws {
        try await change { _, change in
            guard !isUnsaved else { return change.put.append(Self.unsavedRecord) }
            change.removed.insert(Self.unsavedKey)
            for record in try await storage.cryptoRecords(.privateKey, owner: Self.recoveryKeyOwner) {
                change.removed.insert(record.key)
            }
        }
    }

    /// Stores a key of the secret storage before the server has it: without an answer, only the server knows whether
    /// it is the default one. Earlier ones stay, as one of them may be.
    /// - Parameter id: The key's ID in the secret storage.
    public func stageRecoveryKey(_ secret: KeyMaterial, as id: ExactText) async throws {
        let bytes = secret.withBytes { Array(UnsafeBufferPointer(start: $0, count: KeyMaterial.count)) }
        let encrypted = try EncryptedSecret(bytes, name: Self.recoveryKeyName, key: key)
        let record = CryptoRecord(Self.stagedKey(id), value: try JSONEncoder().encode(encrypted))
        try await change { _, change in change.put.append(record) }
    }

    /// The staged key with this ID. It stays until the user has saved the recovery key.
    public func stagedRecoveryKey(_ id: ExactText) async throws -> KeyMaterial? {
        guard let record = try await storage.cryptoRecord(Self.stagedKey(id)) else { return nil }
        let encrypted = try JSONDecoder().decode(EncryptedSecret.self, from: record.value)
        return try KeyMaterial(bytes: encrypted.decrypt(name: Self.recoveryKeyName, key: key))
    }

    private static func stagedKey(_ id: ExactText) -> CryptoRecord.Key {
        CryptoRecord.Key(.privateKey, owner: recoveryKeyOwner, id: id)
    }
}
