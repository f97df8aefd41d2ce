import ChatCore
import JSONReading
import MatrixCrypto
import Ratchets

/// Creates the user's cross-signing identity, or confirms this device with the secret storage.
struct IdentitySetup: Sendable {
    let keys: AccountEncryption
    let client: MatrixClient
    let user: MemberID
    let storage: SecretStorage
    let monitor: EncryptionMonitor

    /// One operation at a time: two would create two identities.
    let gate = SerialGate()

    func create(password: String?) async throws -> RecoveryKey {
        try await gate.run { try await createAlone(password) }
    }

    private func createAlone(_ password: String?) async throws -> RecoveryKey {
        // The device's keys must be uploaded before it can be signed, and the server's keys must be known.
        guard await keys.makeAllRequests() else { throw EncryptionError.unreachable }
        let staged = try await keys.encrypting { try await $0.stageIdentity() }
        do {
            _ = try await InteractiveAuth(client: client, user: user).call(
                .post, ["client", "v3", "keys", "device_signing", "upload"], body: staged.upload.object ?? [:],
                password: password)
        } catch {
            throw EncryptionError.translated(error)
        }
        // Before the former private keys are replaced: nothing else can open what they protect.
        let created = try await createStorage(of: staged.secrets)
        try await keys.encrypting { try await $0.commitIdentity() }
        await keys.noteChange()
        _ = await keys.makeAllRequests()
        do {
            try await beginBackup(with: staged.backupKey)
        } catch {
            // The recovery key is shown even if the backup fails, which its own loop retries.
            await keys.wakeBackup()
        }
        return created
    }

    private func beginBackup(with key: KeyMaterial) async throws {
        guard let backup = await keys.backup else { throw EncryptionError.unavailable(keys.condition.problem) }
        do {
            try await backup.create(with: key)
            try await backup.noteChoice(isEnabled: true)
        } catch {
            throw EncryptionError.translated(error)
        }
    }

    func setBackupEnabled(_ isEnabled: Bool) async throws {
        try await gate.run {
            guard let backup = await keys.backup else { throw EncryptionError.unavailable(keys.condition.problem) }
            if isEnabled {
                try await beginBackup(with: keys.encrypting { try await Self.nextBackupKey($0) })
            } else {
                do {
                    try await backup.delete()
                    try await backup.noteChoice(isEnabled: false)
                } catch {
                    throw EncryptionError.translated(error)
                }
            }
            await monitor.invalidateRecovery()
        }
    }

    /// The key of a backup that is turned on: the one in the secret storage if this device has it.
    private static func nextBackupKey(_ machine: CryptoMachine) async throws -> KeyMaterial {
        if let prepared = try await machine.preparedBackupKey() { return prepared }
        if let known = try await machine.storedSecrets()[.backup] { return known }
        // Before there is a backup with it: its recovery key restores nothing until another one is made.
        try await machine.setBackupKeyUnstored(true)
        return try KeyMaterial()
    }

    func recover(with typed: String) async throws {
        guard await keys.makeAllRequests() else { throw EncryptionError.unreachable }
        let opened: SecretStorage.Opened
        do {
            opened = try await storage.open(with: typed)
        } catch {
            throw EncryptionError.translated(error)
        }
        let adopted = try await keys.encrypting { try await $0.adopt(opened.secrets) }
        guard !adopted.isEmpty else { throw EncryptionError.incompleteRecovery }
        await keys.noteChange()
        _ = await keys.makeAllRequests()
        guard let secret = opened.secrets[.backup], let backup = await keys.backup else { return }
        do {
            // A key of a former backup restores nothing. The device is confirmed regardless.
            if try await backup.adopt(secret) { try await keys.encrypting { try await $0.setBackupKeyUnstored(false) } }
        } catch {
            throw EncryptionError.translated(error)
        }
    }

    func replaceRecoveryKey() async throws -> RecoveryKey {
        try await gate.run {
            var secrets = try await keys.encrypting { try await $0.storedSecrets() }
            guard secrets[.master] != nil, secrets[.selfSigning] != nil, secrets[.userSigning] != nil else {
                throw EncryptionError.unconfirmedDevice
            }
            let backup = await keys.backup?.standing.backup
            if secrets[.backup] == nil {
                switch backup {
                // The secret storage may have the only copy of the backup's key.
                case .on: throw EncryptionError.incompleteRecovery
                // The key of a backup that was prepared with the identity when the process ended.
                default: secrets[.backup] = try await keys.encrypting { try await $0.preparedBackupKey() }
                }
            }
            if secrets[.backup] == nil, backup != .off { throw EncryptionError.incompleteRecovery }
            let created = try await createStorage(of: secrets)
            await keys.wakeBackup()
            return created
        }
    }

    private func createStorage(of secrets: [SecretName: KeyMaterial]) async throws -> RecoveryKey {
        let created: SecretStorage.Created
        do {
            created = try await storage.create(secrets)
        } catch {
            throw EncryptionError.translated(error)
        }
        try await keys.encrypting {
            try await $0.setRecoveryKeyUnsaved(true)
            if secrets[.backup] != nil { try await $0.setBackupKeyUnstored(false) }
        }
        await monitor.invalidateRecovery()
        return created.recoveryKey
    }

    func confirmRecoveryKey() async throws {
        try await keys.encrypting { try await $0.setRecoveryKeyUnsaved(false) }
        await keys.noteChange()
    }
}
