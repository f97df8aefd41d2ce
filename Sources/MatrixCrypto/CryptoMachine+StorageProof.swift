import ChatCore
import Foundation
import JSONReading
public import Ratchets

/// The public key of a secret, and the entry of the secret storage that contains the secret.
struct StoredSecret: Codable {
    let publicKey: StoredBytes
    let entry: EncryptedSecret
}

/// What a key of the secret storage has opened on this device.
private struct OpenedStorage: Codable {
    /// The key's ID and description, in canonical JSON.
    let key: StoredBytes
    /// By the names of the secrets.
    let secrets: [String: StoredSecret]
}

/// Proof that the recovery key opens the secret storage. The server could make up entries that look the same.
extension CryptoMachine {
    /// A new sign-in removes it: another device has to see for itself.
    private static let openedKey = CryptoRecord.Key(.position, id: "openedStorage")

    /// Notes which entries of the secret storage a key opens, in place of what was noted before. Has no effect if the
    /// key does not match its description. Entries that it does not decrypt are left out.
    public func noteOpened(
        _ entries: [SecretName: EncryptedSecret], of description: SecretStorageKey, with secret: KeyMaterial
    ) async throws {
        guard try description.proof(of: secret) != .wrong, let described = Self.bytes(of: description) else { return }
        var secrets: [String: StoredSecret] = [:]
        for (name, entry) in entries {
            guard let opened = try? entry.secret(name, with: secret) else { continue }
            let publicKey =
                try name == .backup ? BackupKey(opened).publicKey.bytes : SigningKey(seed: opened).publicKey.bytes
            secrets[name.rawValue] = StoredSecret(publicKey: StoredBytes(publicKey), entry: entry)
        }
        let value = try JSONEncoder().encode(OpenedStorage(key: StoredBytes(described), secrets: secrets))
        try await change { _, change in change.put.append(CryptoRecord(Self.openedKey, value: value)) }
    }

    /// The secrets of the current identity and backup that a key of the secret storage has opened on this device, if
    /// its description and their entries are still the same.
    public func provenSecrets(
        in entries: [SecretName: EncryptedSecret], of description: SecretStorageKey
    ) async throws -> Set<SecretName> {
        try await change { state, _ in
            // A damaged record proves nothing.
            guard let record = try await storage.cryptoRecord(Self.openedKey),
                let opened = try? JSONDecoder().decode(OpenedStorage.self, from: record.value),
                opened.key.bytes == Self.bytes(of: description), let own = state.own, own.isVerified
            else { return [] }
            var proven: Set<SecretName> = []
            for name in SecretName.allCases {
                let current = name == .backup ? state.backup.version?.key : own.publicKey(of: name)?.bytes
                guard let current, let known = opened.secrets[name.rawValue], known.publicKey.bytes == current,
                    known.entry == entries[name]
                else { continue }
                proven.insert(name)
            }
            return proven
        }
    }

    /// - Returns: `nil` if the description has no exact form, which then proves nothing.
    private static func bytes(of description: SecretStorageKey) -> [UInt8]? {
        try? CanonicalJSON.bytes(of: [.string(description.type), description.content])
    }
}
