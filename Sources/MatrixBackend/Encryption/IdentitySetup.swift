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

    /// More than the user's devices change while one of them is set up.
    private static let maxRounds = 5

    /// Sets up an account without an identity.
    func create(password: String?) async throws -> RecoveryKey {
        try await gate.run { try await createAlone(password, replaces: false) }
    }

    func replace(password: String?) async throws -> RecoveryKey {
        try await gate.run { try await createAlone(password, replaces: true) }
    }

    private func createAlone(_ password: String?, replaces: Bool) async throws -> RecoveryKey {
        let wasStaged = try await keys.encrypting { try await $0.hasStagedIdentity() }
        let (isStaged, isUnsaved, identity, secrets) = try await current {
            try await keys.makeRequests([.upload, .query])
        }
        // The server already has what was staged: only the answer was lost.
        if wasStaged, !isStaged { return try await finish(secrets, replaces: replaces) }
        if !replaces {
            switch identity {
            case .none: break
            case .unknown: throw EncryptionError.unreachable
            case .unconfirmed, .confirmed:
                guard isUnsaved, Self.isComplete(secrets) else { throw EncryptionError.identityExists }
                return try await finish(secrets, replaces: false)
            case .replaced: throw EncryptionError.identityExists
            }
        }
        let staged = try await keys.encrypting { try await $0.stageIdentity() }
        do {
            _ = try await InteractiveAuth(client: client, user: user).call(
                .post, ["client", "v3", "keys", "device_signing", "upload"], body: staged.upload.object ?? [:],
                password: password)
        } catch {
            throw EncryptionError.translated(error)
        }
        // Before the former private keys are replaced: nothing else can open what they protect.
        // Without an identity, the former key may open the only copy of an earlier backup's key.
        let created = try await createStorage(of: staged.secrets) { replaces }
        try await keys.encrypting { try await $0.commitIdentity() }
        await keys.noteChange()
        _ = await keys.makeAllRequests()
        await tryBackup(with: staged.backupKey)
        return created
    }

    /// What the server and this device have. The device's keys must be uploaded before it can be signed, and the
    /// server's keys must be known: another device may have created an identity since the user was asked.
    /// - Parameter ask: uploads the device's keys and queries the user's, until the server has answered.
    func current(asking ask: () async throws -> Void) async throws -> (
        isStaged: Bool, isUnsaved: Bool, identity: EncryptionStatus.Identity, secrets: [SecretName: KeyMaterial]
    ) {
        try await keys.encrypting { try await $0.outdateOwnDevices() }
        var round = 0
        while true {
            try await ask()
            let found = try await keys.encrypting { machine in
                (
                    isStaged: try await machine.hasStagedIdentity(),
                    isUnsaved: try await machine.isRecoveryKeyUnsaved(),
                    identity: try await machine.ownIdentity(), secrets: try await machine.storedSecrets()
                )
            }
            round += 1
            // The sync reports the upload, too, and may do so between the answer and here: then the server is asked
            // once more.
            guard found.identity == .unknown, round < Self.maxRounds else { return found }
        }
    }

    private static func isComplete(_ secrets: [SecretName: KeyMaterial]) -> Bool {
        secrets[.master] != nil && secrets[.selfSigning] != nil && secrets[.userSigning] != nil
    }

    /// Creates the storage and the backup of an identity that the server has, after an interruption.
    /// - Parameter identity: Its private keys.
    private func finish(_ identity: [SecretName: KeyMaterial], replaces: Bool) async throws -> RecoveryKey {
        guard Self.isComplete(identity) else { throw EncryptionError.unconfirmedDevice }
        let prepared = try await keys.encrypting { try await $0.preparedBackupKey() }
        var secrets = identity
        secrets[.backup] = prepared ?? identity[.backup]
        let created = try await createStorage(of: secrets) { replaces }
        if let prepared { await tryBackup(with: prepared) }
        return created
    }

    /// The recovery key is shown even if the backup fails, which its own loop retries.
    private func tryBackup(with key: KeyMaterial) async {
        do {
            guard let backup = await keys.backup else { return }
            try await backup.create(with: key)
            try await backup.noteChoice(isEnabled: true)
        } catch {
            await keys.wakeBackup()
        }
    }

    // MARK: Backup

    func setBackupEnabled(_ isEnabled: Bool) async throws {
        try await gate.run {
            guard let backup = await keys.backup else { throw EncryptionError.unavailable(keys.condition.problem) }
            do {
                if isEnabled { try await enable(backup) } else { try await disable(backup) }
            } catch {
                throw EncryptionError.translated(error)
            }
            await monitor.invalidateRecovery()
        }
    }

    private func enable(_ backup: KeyBackup) async throws {
        switch try await backup.currentKey() {
        // Another device has turned it on meanwhile.
        case .stored, .missing: break
        case .noBackup, .untrusted:
            let key = try await keys.encrypting { try await nextBackupKey($0) }
            try await backup.create(with: key)
        }
        try await backup.noteChoice(isEnabled: true)
    }

    private func disable(_ backup: KeyBackup) async throws {
        try await noteStoredBackupKey(of: backup)
        try await backup.delete()
        try await backup.noteChoice(isEnabled: false)
    }

    /// Notes which entry of the secret storage has the key of the backup that is about to be deleted, so that a change
    /// by another device is noticed when the backup is turned on again.
    private func noteStoredBackupKey(of backup: KeyBackup) async throws {
        guard case .stored(let key) = try await backup.currentKey(),
            try await keys.encrypting({ try await !$0.isBackupKeyUnstored() }),
            let entry = try await usableStorage()?.secrets[.backup]
        else { return }
        try await keys.encrypting { try await $0.noteBackupKey(key, isIn: entry) }
    }

    /// - Returns: `nil` if there is none, or if it is unusable.
    private func usableStorage() async throws -> SecretStorage.State? {
        do { return try await storage.state() } catch EncryptionError.incompleteRecovery { return nil }
    }

    /// The key of a backup that is turned on: the one in the secret storage if this device has it.
    private func nextBackupKey(_ machine: CryptoMachine) async throws -> KeyMaterial {
        if let prepared = try await machine.preparedBackupKey() { return prepared }
        let known = try await machine.storedSecrets()[.backup]
        if let known, let entry = try await usableStorage()?.secrets[.backup],
            try await machine.isBackupKey(known, in: entry)
        {
            return known
        }
        let key = try known ?? KeyMaterial()
        // Before there is a backup with it: its recovery key may restore nothing until another one is made.
        try await machine.noteBackupKeyUnstored(key)
        return key
    }

    // MARK: Recovery

    func recover(with typed: String) async throws {
        _ = try await current { try await keys.makeRequests([.upload, .query]) }
        let opened: SecretStorage.Opened
        do {
            opened = try await storage.open(with: typed)
        } catch {
            throw EncryptionError.translated(error)
        }
        let wasConfirmed = try await keys.encrypting { try await $0.ownIdentity() } == .confirmed
        let known = try await keys.encrypting { try await $0.storedSecrets() }
        let adopted = try await keys.encrypting { try await $0.adopt(opened.secrets) }
        guard !adopted.isEmpty || wasConfirmed else { throw EncryptionError.incompleteRecovery }
        try await keys.encrypting {
            try await $0.noteOpened(opened.state.secrets, of: opened.state.key, with: opened.key)
        }
        await keys.noteChange()
        var isBackupReadable = false
        if let secret = opened.secrets[.backup] {
            isBackupReadable = await adopt(secret, from: opened.state) && known[.backup]?.isEqual(to: secret) != true
        }
        // Of another identity and a former backup, unless it was typed only to see that it opens everything.
        let isUseless = adopted.allSatisfy { known[$0] != nil } && !isBackupReadable
        if wasConfirmed, isUseless, try await !isProven(opened.state) { throw EncryptionError.incompleteRecovery }
        try await waitUntilConfirmed()
        // Who types the key that was made here has saved it.
        let staged = try await keys.encrypting { try await $0.stagedRecoveryKey(opened.state.key.id) }
        if let staged, staged.isEqual(to: opened.key) { try await confirmRecoveryKey() }
    }

    private func isProven(_ state: SecretStorage.State) async throws -> Bool {
        try await keys.encrypting { try await $0.isProven(state) }
    }

    /// The device counts as confirmed once the server returns its signature.
    private func waitUntilConfirmed() async throws {
        try await keys.makeRequests([.upload, .uploadSignatures])
        try await keys.encrypting { try await $0.outdateOwnDevices() }
        try await keys.makeRequests([.query])
        guard try await keys.encrypting({ try await $0.ownIdentity() }) == .confirmed else {
            throw EncryptionError.rejected(reason: "signature")
        }
    }

    /// Restores the backup. The device is confirmed regardless: a key of a former backup restores nothing, and after a
    /// failure ``EncryptionMonitor`` tries again. The status shows both.
    /// - Returns: Whether the backup can be read, or may be once the failure is over.
    private func adopt(_ secret: KeyMaterial, from state: SecretStorage.State) async -> Bool {
        guard let backup = await keys.backup else { return false }
        do {
            guard try await backup.adopt(secret), let entry = state.secrets[.backup] else { return false }
            try await keys.encrypting { try await $0.noteBackupKey(secret, isIn: entry) }
        } catch {
            // If this fails as well, the key is requested from other devices, or comes with the recovery key again.
            try? await keys.encrypting { try await $0.stageUnprovenBackupKey(secret) }
        }
        return true
    }

    func replaceRecoveryKey() async throws -> RecoveryKey {
        try await gate.run {
            // Another device may have replaced the identity: the former keys must not take the place of the new ones.
            _ = try await current { try await keys.makeRequests([.query]) }
            var secrets = try await keys.encrypting { try await $0.storedSecrets() }
            if !Self.isComplete(secrets) || secrets[.backup] == nil {
                try await restoreFromUnsavedStorage()
                secrets = try await keys.encrypting { try await $0.storedSecrets() }
            }
            guard Self.isComplete(secrets) else {
                let isConfirmed = try await keys.encrypting { try await $0.ownIdentity() } == .confirmed
                // Only the secret storage may have the others.
                throw isConfirmed ? EncryptionError.missingSecrets : .unconfirmedDevice
            }
            guard let backup = await keys.backup else { throw EncryptionError.unavailable(keys.condition.problem) }
            let prepared = try await keys.encrypting { try await $0.preparedBackupKey() }
            switch try await currentKey(of: backup) {
            case .stored(let key): secrets[.backup] = key
            // The key that turning the backup on would use.
            case .noBackup: secrets[.backup] = secrets[.backup] ?? prepared
            case .untrusted:
                // The key of a backup that was prepared with the identity when the process ended.
                secrets[.backup] = prepared
                // Before its key was damaged here, the backup may have been trusted only for that.
                if prepared == nil, try await hasLostBackupKey() { throw EncryptionError.missingSecrets }
            case .missing(let publicKey):
                // The secret storage may have the only copy of the backup's key.
                try await keys.encrypting { try await $0.requestBackupKey(for: publicKey, as: .needed) }
                throw EncryptionError.missingSecrets
            }
            let created = try await createStorage(of: secrets) { [secrets] in
                switch try await currentKey(of: backup) {
                case .stored(let key): secrets[.backup]?.isEqual(to: key) == true
                case .noBackup: true
                case .untrusted, .missing: false
                }
            }
            await keys.wakeBackup()
            return created
        }
    }

    /// Brings private keys back from a secret storage whose recovery key was made here and never shown: if they were
    /// damaged, nobody else can.
    private func restoreFromUnsavedStorage() async throws {
        guard let state = try await storedState(),
            let key = try await keys.encrypting({ try await $0.stagedRecoveryKey(state.key.id) }),
            let opened = try? SecretStorage.open(state, with: key)
        else { return }
        _ = try await keys.encrypting { try await $0.adopt(opened.secrets) }
        if let secret = opened.secrets[.backup] { _ = await adopt(secret, from: state) }
    }

    /// Whether the secret storage may have the only copy of a backup's key.
    private func hasLostBackupKey() async throws -> Bool {
        guard try await keys.encrypting({ try await $0.hasLost(.backup) }) else { return false }
        return try await storedState()?.secrets[.backup] != nil
    }

    private func storedState() async throws -> SecretStorage.State? {
        do { return try await usableStorage() } catch { throw EncryptionError.translated(error) }
    }

    private func currentKey(of backup: KeyBackup) async throws -> KeyBackup.CurrentKey {
        do { return try await backup.currentKey() } catch { throw EncryptionError.translated(error) }
    }

    /// Creates a secret storage, or returns the key of the one that was created with these secrets but not shown.
    /// - Parameter replacesFormer: see ``SecretStorage/create(_:with:replacesFormer:)``.
    private func createStorage(
        of secrets: [SecretName: KeyMaterial], replacesFormer: @Sendable () async throws -> Bool = { true }
    ) async throws -> RecoveryKey {
        let shown: Shown
        do {
            if let unsaved = try await unsavedStorage(of: secrets) {
                shown = unsaved
            } else {
                shown = try await newStorage(of: secrets, replacesFormer: replacesFormer)
            }
        } catch {
            // The server may have the new key nevertheless; then the status says that it is not saved.
            await monitor.invalidateRecovery()
            throw EncryptionError.translated(error)
        }
        try await keys.encrypting {
            try await $0.setRecoveryKeyUnsaved(true)
            if let key = secrets[.backup], let entry = shown.secrets[.backup] {
                try await $0.noteBackupKey(key, isIn: entry)
            }
            try await $0.noteOpened(shown.secrets, of: shown.description, with: shown.key)
        }
        await monitor.invalidateRecovery()
        return shown.recoveryKey
    }

    /// A recovery key to show, and what it opens.
    private struct Shown: Sendable {
        let key: KeyMaterial
        let description: SecretStorageKey
        let secrets: [SecretName: EncryptedSecret]

        var recoveryKey: RecoveryKey { RecoveryKeyCodec.text(of: key) }
    }

    private func newStorage(
        of secrets: [SecretName: KeyMaterial], replacesFormer: @Sendable () async throws -> Bool
    ) async throws -> Shown {
        let new = try SecretStorage.NewKey()
        // Before the server has it: the former key is refused from then on, and the answer may be lost.
        try await keys.encrypting { try await $0.stageRecoveryKey(new.key, as: new.description.id) }
        do {
            let created = try await storage.create(secrets, with: new, replacesFormer: replacesFormer)
            return Shown(key: created.key, description: new.description, secrets: created.secrets)
        } catch {
            if let unsaved = try? await unsavedStorage(of: secrets) { return unsaved }
            throw error
        }
    }

    /// The server's storage, if its default key was made here, is not saved yet, and opens these secrets.
    private func unsavedStorage(of secrets: [SecretName: KeyMaterial]) async throws -> Shown? {
        guard let state = try await usableStorage(),
            let key = try await keys.encrypting({ try await $0.stagedRecoveryKey(state.key.id) }),
            // A damaged storage is created anew.
            let opened = try? SecretStorage.open(state, with: key),
            secrets.allSatisfy({ opened.secrets[$0.key]?.isEqual(to: $0.value) == true })
        else { return nil }
        return Shown(key: key, description: state.key, secrets: state.secrets)
    }

    func confirmRecoveryKey() async throws {
        try await keys.encrypting { try await $0.setRecoveryKeyUnsaved(false) }
        await keys.noteChange()
    }
}
