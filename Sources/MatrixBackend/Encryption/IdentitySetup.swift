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
        let body = try await keys.encrypting { try await $0.stageIdentity() }
        let secrets = try await keys.encrypting { try await $0.stagedSecrets() }
        do {
            _ = try await InteractiveAuth(client: client, user: user).call(
                .post, ["client", "v3", "keys", "device_signing", "upload"], body: body.object ?? [:],
                password: password)
        } catch {
            throw EncryptionError.translated(error)
        }
        // Before the former private keys go: nothing else could open what they have signed.
        let created = try await createStorage(of: secrets)
        try await keys.encrypting { try await $0.commitIdentity() }
        await keys.noteChange()
        _ = await keys.makeAllRequests()
        return created
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
    }

    func replaceRecoveryKey() async throws -> RecoveryKey {
        try await gate.run {
            let secrets = try await keys.encrypting { try await $0.storedSecrets() }
            guard secrets[.master] != nil, secrets[.selfSigning] != nil, secrets[.userSigning] != nil else {
                throw EncryptionError.unconfirmedDevice
            }
            return try await createStorage(of: secrets)
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
