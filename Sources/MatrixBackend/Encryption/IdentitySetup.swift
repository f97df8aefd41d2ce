import ChatCore
import JSONReading
import MatrixCrypto
import Ratchets

/// Making the user's identity, and confirming this device by the secret storage.
struct IdentitySetup: Sendable {
    let keys: AccountEncryption
    let client: MatrixClient
    let user: MemberID
    let storage: SecretStorage
    let monitor: EncryptionMonitor

    /// One at a time: two would make two identities.
    let gate = SerialGate()

    func create(password: String?) async throws -> RecoveryKey {
        try await gate.run { try await createAlone(password) }
    }

    private func createAlone(_ password: String?) async throws -> RecoveryKey {
        // The device has to be at the server before it is signed, and what the server has to be known.
        guard await keys.makeAllRequests() else { throw EncryptionError.unreachable }
        let staged = try await keys.encrypting { try await $0.stageIdentity() }
        do {
            _ = try await InteractiveAuth(client: client, user: user).call(
                .post, ["client", "v3", "keys", "device_signing", "upload"], body: staged.upload.object ?? [:],
                password: password)
        } catch {
            throw EncryptionError.translated(error)
        }
        // Before the former private keys go: nothing else could open what they have signed.
        let created = try await createStorage(of: staged.secrets)
        try await keys.encrypting { try await $0.commitIdentity() }
        await keys.noteChange()
        _ = await keys.makeAllRequests()
        do {
            try await beginBackup(with: staged.backupKey)
        } catch {
            // The recovery key is shown all the same, and the backup's own loop goes on trying.
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
            // The key stays: the secret storage has it, and another backup is read by the same recovery key.
            let known = try await keys.encrypting { try await $0.storedSecrets()[.backup] }
            if isEnabled {
                let key = try known ?? KeyMaterial()
                try await beginBackup(with: key)
            } else {
                do {
                    try await backup.delete()
                    try await backup.noteChoice(isEnabled: false)
                } catch {
                    throw EncryptionError.translated(error)
                }
                if let known { try await keys.encrypting { try await $0.store(known, as: .backup) } }
            }
            await monitor.invalidateRecovery()
        }
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
            // One of a former backup restores nothing; the device is confirmed all the same.
            _ = try await backup.adopt(secret)
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
                // The storage would be all that is left of what reads the backup.
                case .on: throw EncryptionError.incompleteRecovery
                // One that was to be made with the identity, before the process ended.
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
        try await keys.encrypting { try await $0.setRecoveryKeyUnsaved(true) }
        await monitor.invalidateRecovery()
        return created.recoveryKey
    }

    func confirmRecoveryKey() async throws {
        try await keys.encrypting { try await $0.setRecoveryKeyUnsaved(false) }
        await keys.noteChange()
    }
}
