import ChatCore
import Foundation
import Ratchets

/// The secrets that a user's devices share, by their names in the specification.
public enum SecretName: String, CaseIterable, Sendable {
    case master = "m.cross_signing.master"
    case selfSigning = "m.cross_signing.self_signing"
    case userSigning = "m.cross_signing.user_signing"
    case backup = "m.megolm_backup.v1"

    var record: CryptoRecord.Key { CryptoRecord.Key(.privateKey, id: ExactText(rawValue)) }
}

/// The user's secrets on this device, encrypted with the storage key.
enum PrivateKeys {
    /// The record of a secret. A staged one is a key of an identity that the server may not have yet, or a received
    /// backup key that has not been compared with the backup.
    static func key(_ name: SecretName, isStaged: Bool) -> CryptoRecord.Key {
        isStaged ? CryptoRecord.Key(.privateKey, owner: "staged", id: ExactText(name.rawValue)) : name.record
    }

    /// - Returns: `nil` if it is not stored.
    /// - Throws: If it is stored but unreadable, which must not pass for missing.
    static func stored(
        _ name: SecretName, isStaged: Bool = false, in storage: any CryptoStorage, key: KeyMaterial
    ) async throws -> KeyMaterial? {
        guard let record = try await storage.cryptoRecord(Self.key(name, isStaged: isStaged)) else { return nil }
        let encrypted = try JSONDecoder().decode(EncryptedSecret.self, from: record.value)
        return try KeyMaterial(bytes: encrypted.decrypt(name: name.rawValue, key: key))
    }

    /// The names under which these records are encrypted: by their ID, except keys of the secret storage.
    private static let names = Set(SecretName.allCases.map(\.rawValue) + [CryptoMachine.nextBackupKeyName])

    /// The records that cannot be decrypted, among them staged ones and recovery keys.
    static func damaged(in storage: any CryptoStorage, key: KeyMaterial) async throws -> [CryptoRecord] {
        try await storage.cryptoRecords(.privateKey, owner: nil).filter { record in
            let isRecoveryKey = record.key.owner == CryptoMachine.recoveryKeyOwner
            let name = isRecoveryKey ? CryptoMachine.recoveryKeyName : record.key.id.text
            // Those of a later version are not this one's to judge.
            guard isRecoveryKey || names.contains(name) else { return false }
            do {
                let encrypted = try JSONDecoder().decode(EncryptedSecret.self, from: record.value)
                return try encrypted.decrypt(name: name, key: key).count != KeyMaterial.count
            } catch RatchetError.mac, RatchetError.malformed, is DecodingError {
                return true
            }
        }
    }

    static func record(
        _ name: SecretName, _ secret: KeyMaterial, isStaged: Bool = false, key: KeyMaterial
    ) throws -> CryptoRecord {
        let bytes = secret.withBytes { Array(UnsafeBufferPointer(start: $0, count: KeyMaterial.count)) }
        let encrypted = try EncryptedSecret(bytes, name: name.rawValue, key: key)
        return CryptoRecord(Self.key(name, isStaged: isStaged), value: try JSONEncoder().encode(encrypted))
    }
}
