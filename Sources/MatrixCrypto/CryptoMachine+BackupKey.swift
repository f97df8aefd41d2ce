import ChatCore
import Foundation
public import Ratchets

/// The backup's private key, as stored on this device.
extension CryptoMachine {
    /// Stored before the server gets the public key: otherwise a crash could leave a backup that nobody can decrypt.
    static let nextBackupKeyName = "m.megolm_backup.v1.next"
    private static let nextKey = CryptoRecord.Key(.privateKey, id: ExactText(nextBackupKeyName))
    /// The key of the backup that is created together with a staged identity.
    private static let stagedKey = CryptoRecord.Key(.privateKey, owner: "staged", id: ExactText(nextBackupKeyName))

    /// Stores the key of a backup that is about to be created. The former key stays until ``backupKey(for:)`` finds the
    /// new one in use.
    public func prepareBackupKey(_ secret: KeyMaterial) async throws {
        try await change { _, change in change.put.append(try nextRecord(secret, Self.nextKey)) }
    }

    /// The key of a backup that is about to be created; `nil` if there is none.
    public func preparedBackupKey() async throws -> KeyMaterial? { try await nextBackupKey(Self.nextKey) }

    /// The backup key of the staged identity. Returns the same key until ``prepareStagedBackupKey(_:)``.
    func stageBackupKey(_ change: inout CryptoChange) async throws -> KeyMaterial {
        if let staged = try await nextBackupKey(Self.stagedKey) { return staged }
        let made = try KeyMaterial()
        change.put.append(try nextRecord(made, Self.stagedKey))
        return made
    }

    /// Prepares the backup of the staged identity, which the server has accepted.
    func prepareStagedBackupKey(_ change: inout CryptoChange) async throws {
        guard let staged = try await nextBackupKey(Self.stagedKey) else { return }
        change.put.append(try nextRecord(staged, Self.nextKey))
        change.removed.insert(Self.stagedKey)
    }

    private func nextRecord(_ secret: KeyMaterial, _ record: CryptoRecord.Key) throws -> CryptoRecord {
        let bytes = secret.withBytes { Array(UnsafeBufferPointer(start: $0, count: KeyMaterial.count)) }
        let encrypted = try EncryptedSecret(bytes, name: Self.nextBackupKeyName, key: key)
        return CryptoRecord(record, value: try JSONEncoder().encode(encrypted))
    }

    private func nextBackupKey(_ key: CryptoRecord.Key) async throws -> KeyMaterial? {
        guard let record = try await storage.cryptoRecord(key) else { return nil }
        let encrypted = try JSONDecoder().decode(EncryptedSecret.self, from: record.value)
        return try KeyMaterial(bytes: encrypted.decrypt(name: Self.nextBackupKeyName, key: self.key))
    }

    /// Returns the private key for this public backup key, if this device has it.
    public func backupKey(for publicKey: Curve25519Key) async throws -> KeyMaterial? {
        try await change { _, change in
            if let known = try await PrivateKeys.stored(.backup, in: storage, key: key),
                try BackupKey(known).publicKey == publicKey
            {
                return known
            }
            guard let next = try await preparedBackupKey(), try BackupKey(next).publicKey == publicKey else {
                return nil
            }
            change.put.append(try PrivateKeys.record(.backup, next, key: key))
            change.removed.insert(Self.nextKey)
            return next
        }
    }

    /// Stores the backup's key, obtained from the secret storage or from another device.
    public func setBackupKey(_ secret: KeyMaterial) async throws {
        try await change { _, change in change.put.append(try PrivateKeys.record(.backup, secret, key: key)) }
    }

    /// Keeps the key of a backup that was deleted from the server, also of one that was only prepared: the secret
    /// storage has it, so that the same recovery key restores the next backup.
    public func retireBackupKey() async throws {
        try await change { _, change in
            guard let next = try await preparedBackupKey() else { return }
            change.put.append(try PrivateKeys.record(.backup, next, key: key))
            change.removed.insert(Self.nextKey)
        }
    }

    private static let unstoredKey = CryptoRecord.Key(.backup, id: "unstored")

    /// Whether the secret storage is not known to have the key of the backup in use: it may have none or a former one,
    /// which the recovery key would restore instead.
    public func isBackupKeyUnstored() async throws -> Bool {
        try await change { state, _ in
            guard let noted = try await storage.cryptoRecord(Self.unstoredKey)?.value else { return false }
            // Earlier versions did not note the key. Without a backup, it may be that of the next one.
            guard !noted.isEmpty, let version = state.backup.version else { return true }
            // Another device may have made the backup that is in use, and stored its key.
            return noted == Data(version.key)
        }
    }

    /// Notes that the secret storage may lack the key of a backup that is about to be created.
    public func noteBackupKeyUnstored(_ secret: KeyMaterial) async throws {
        let publicKey = Data(try BackupKey(secret).publicKey.bytes)
        try await change { _, change in change.put.append(CryptoRecord(Self.unstoredKey, value: publicKey)) }
    }

    private static let entryKey = CryptoRecord.Key(.backup, id: "storedEntry")

    /// Notes which entry of the secret storage contains a backup key.
    public func noteBackupKey(_ secret: KeyMaterial, isIn entry: EncryptedSecret) async throws {
        let publicKey = try BackupKey(secret).publicKey.bytes
        let value = try JSONEncoder().encode(StoredSecret(publicKey: StoredBytes(publicKey), entry: entry))
        try await change { _, change in
            change.put.append(CryptoRecord(Self.entryKey, value: value))
            let unstored = try await storage.cryptoRecord(Self.unstoredKey)?.value
            if unstored == Data() || unstored == Data(publicKey) { change.removed.insert(Self.unstoredKey) }
        }
    }

    /// Whether an entry of the secret storage is the one that was noted for this backup key. Another device may have
    /// stored another key since.
    public func isBackupKey(_ secret: KeyMaterial, in entry: EncryptedSecret) async throws -> Bool {
        // A damaged record notes none.
        guard let record = try await storage.cryptoRecord(Self.entryKey),
            let stored = try? JSONDecoder().decode(StoredSecret.self, from: record.value)
        else { return false }
        return try stored.entry == entry && stored.publicKey.bytes == BackupKey(secret).publicKey.bytes
    }

    // MARK: Former identities

    /// The record of a backup whose private key this device has dropped with the identity that it belonged to.
    private static func voidKey(_ publicKey: Curve25519Key) -> CryptoRecord.Key {
        CryptoRecord.Key(.backup, owner: "void", id: ExactText("\(publicKey)"))
    }

    /// Notes that the backups of the former identity are void. This device may have signed them, and the new identity
    /// confirms the same device: they would count as trusted, and receive keys that nobody can decrypt any more.
    func voidBackups(_ state: State, _ change: inout CryptoChange) async throws {
        let stored = try await PrivateKeys.stored(.backup, in: storage, key: key)
        let prepared = try await preparedBackupKey()
        var keys = Set(try [stored, prepared].compactMap(\.self).map { try BackupKey($0).publicKey })
        if let version = state.backup.version { keys.insert(try version.publicKey) }
        change.put += keys.map { CryptoRecord(Self.voidKey($0), value: Data([1])) }
    }

    /// Whether a backup belongs to an identity that was replaced here. It is no longer void once its private key is
    /// stored again.
    public func isVoidBackup(_ publicKey: Curve25519Key) async throws -> Bool {
        guard try await storage.cryptoRecord(Self.voidKey(publicKey)) != nil else { return false }
        return try await backupKey(for: publicKey) == nil
    }

    // MARK: Restoring

    private static let restoreKey = CryptoRecord.Key(.backup, id: "restore")

    /// The version of the backup being restored. An interrupted restore starts over in the next process.
    public func restoringBackup() async throws -> String? {
        try await storage.cryptoRecord(Self.restoreKey).map { String(decoding: $0.value, as: UTF8.self) }
    }

    /// Ends the restore of a backup, unless the restore of another one has begun since.
    /// - Returns: Whether it was ended.
    public func endRestoringBackup(_ version: String) async throws -> Bool {
        try await change { _, change in
            guard try await restoringBackup() == version else { return false }
            change.removed.insert(Self.restoreKey)
            return true
        }
    }

    public func setRestoringBackup(_ version: String?) async throws {
        try await change { _, change in
            if let version {
                change.put.append(CryptoRecord(Self.restoreKey, value: Data(version.utf8)))
            } else {
                change.removed.insert(Self.restoreKey)
            }
        }
    }
}
