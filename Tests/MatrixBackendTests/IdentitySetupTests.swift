import ChatCore
import ChatTestSupport
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Testing
import ToolSupport

@testable import MatrixBackend

/// The identity, the secret storage and the backup together, with answers that are lost and other devices that
/// interfere.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct IdentitySetupTests {
    private let server = IdentityServer()
    private let folder = TemporaryFolder()
    private let credentials = MemoryCredentialStore()

    private func start(
        _ server: IdentityServer, in folder: TemporaryFolder, _ credentials: MemoryCredentialStore
    ) async throws -> EncryptedAccount {
        try await EncryptedAccount.start(in: folder, credentials) { server.answer($0) }
    }

    private func start() async throws -> EncryptedAccount { try await start(server, in: folder, credentials) }

    /// Signs in anew: with other keys, under the same device ID.
    private func signInAgain() async throws -> EncryptedAccount {
        server.forgetDevices()
        return try await start(server, in: TemporaryFolder(), MemoryCredentialStore())
    }

    private func cryptoMachine(_ account: EncryptedAccount) async throws -> CryptoMachine {
        try #require(await account.backend.keys.machine)
    }

    /// Whether a recovery key opens all secrets.
    private func opens(_ key: RecoveryKey, _ server: IdentityServer) async throws -> Bool {
        do {
            return try await server.storage.open(with: key.text).secrets.count == 4
        } catch EncryptionError.wrongRecoveryKey {
            return false
        }
    }

    private func reaches(_ recovery: EncryptionStatus.Recovery, _ account: EncryptedAccount) async {
        for await status in account.backend.encryptionStatuses() where status.recovery == recovery { return }
    }

    @Test("A setup whose keys the server rejects says so, not that there is no connection.")
    func rejectedKeys() async throws {
        let server = server
        let account = try await EncryptedAccount.start(in: folder, credentials) { request in
            guard request.url.path.hasSuffix("/keys/upload") else { return server.answer(request) }
            return ["status": 403, "errcode": "M_FORBIDDEN", "error": "No"]
        }
        await #expect(throws: EncryptionError.rejected(reason: "No")) {
            try await account.backend.createIdentity(password: nil)
        }
        #expect(server.identityUploads == 0)
        await account.close()
    }

    @Test("A setup succeeds although the sync reports this device's keys just when the server has answered.")
    func changeAfterAnswer() async throws {
        let account = try await start()
        let (setup, machine) = (account.backend.identitySetup, try await cryptoMachine(account))
        var answers = 0
        let found = try await setup.current {
            try await setup.keys.makeRequests([.upload, .query])
            answers += 1
            if answers == 1 { try await machine.outdateOwnDevices() }
        }
        #expect(found.identity == .none && answers == 2)
        await account.close()
    }

    // MARK: Interruptions

    /// Every step, with its write performed or not.
    private static func losses(_ count: Int) -> [(Int, Bool)] {
        (0..<count).flatMap { [($0, true), ($0, false)] }
    }

    @Test(
        "If replacing the recovery key is interrupted anywhere, the former key still works, or the new one is shown",
        arguments: [false, true])
    func interruptedReplacement(endsProcess: Bool) async throws {
        var count = 0
        for (step, isPerformed) in Self.losses(12) {
            let (server, folder, credentials) = (IdentityServer(), TemporaryFolder(), MemoryCredentialStore())
            var account = try await start(server, in: folder, credentials)
            let former = try await account.backend.createIdentity(password: nil)
            try await account.backend.confirmRecoveryKey()
            server.lose(write: step, isPerformed: isPerformed, endsConnection: endsProcess)
            var shown = try? await account.backend.replaceRecoveryKey()
            if server.hasLost { count += 1 }
            if endsProcess, server.hasLost {
                // Nobody has seen it.
                shown = nil
                await account.close()
                server.reconnect()
                account = try await start(server, in: folder, credentials)
            }
            server.reconnect()
            if shown == nil, try await !opens(former, server) {
                await reaches(.unsaved, account)
                shown = try await account.backend.replaceRecoveryKey()
            }
            #expect(try await opens(shown ?? former, server), "\(step) \(isPerformed)")
            await account.close()
        }
        #expect(count >= 12)
    }

    @Test("If the setup is interrupted anywhere, the next one goes on with the same identity and shows its key")
    func interruptedCreation() async throws {
        for (step, isPerformed) in Self.losses(8) {
            let (server, folder, credentials) = (IdentityServer(), TemporaryFolder(), MemoryCredentialStore())
            var account = try await start(server, in: folder, credentials)
            server.lose(write: step, isPerformed: isPerformed, endsConnection: true)
            _ = try? await account.backend.createIdentity(password: nil)
            #expect(server.hasLost)
            await account.close()
            server.reconnect()
            let master = server.masterKey
            account = try await start(server, in: folder, credentials)
            let key = try await account.backend.createIdentity(password: nil)
            #expect(try await opens(key, server), "\(step) \(isPerformed)")
            #expect(server.identityUploads == 1 && (master == nil || server.masterKey == master))
            #expect(try await cryptoMachine(account).ownIdentity() == .confirmed)
            await account.close()
        }
    }

    @Test("A recovery key that is typed is saved")
    func typedKey() async throws {
        let account = try await start()
        let key = try await account.backend.createIdentity(password: nil)
        #expect(try await cryptoMachine(account).isRecoveryKeyUnsaved())
        try await account.backend.recover(with: key.text)
        #expect(try await !cryptoMachine(account).isRecoveryKeyUnsaved())
        await reaches(.ready, account)
        await account.close()
    }

    @Test("A recovery key that is not saved is shown again, and replaced once it is saved")
    func unsavedKey() async throws {
        let account = try await start()
        let key = try await account.backend.createIdentity(password: nil)
        #expect(try await account.backend.replaceRecoveryKey() == key)
        try await account.backend.confirmRecoveryKey()
        let next = try await account.backend.replaceRecoveryKey()
        #expect(next != key)
        #expect(try await opens(next, server))
        #expect(try await !opens(key, server))
        await account.close()
    }

    // MARK: Other devices

    @Test("An identity that another device has created meanwhile is not reset, except on demand")
    func identityOfAnotherDevice() async throws {
        let account = try await start()
        await reaches(.none, account)
        let user = ExactText(EncryptedAccount.user.rawValue)
        server.set(try TestIdentity.answer([TestIdentity(user)], to: user))
        let master = server.masterKey
        await #expect(throws: EncryptionError.identityExists) {
            try await account.backend.createIdentity(password: nil)
        }
        #expect(server.identityUploads == 0 && server.masterKey == master)
        _ = try await account.backend.replaceIdentity(password: nil)
        #expect(server.identityUploads == 1 && server.masterKey != master)
        await account.close()
    }

    @Test("A device that does not know yet of a new identity leaves its secret storage alone")
    func identityReplacedMeanwhile() async throws {
        let account = try await start()
        _ = try await account.backend.createIdentity(password: nil)
        try await account.backend.confirmRecoveryKey()
        // Another device resets the identity. No sync has said so.
        let user = ExactText(EncryptedAccount.user.rawValue)
        let identity = try TestIdentity(user)
        server.set(try TestIdentity.answer([identity], to: user))
        let created = try await server.storage.create(identity.secrets)
        await #expect(throws: EncryptionError.unconfirmedDevice) { try await account.backend.replaceRecoveryKey() }
        let secrets = try await server.storage.open(with: created.recoveryKey.text).secrets
        #expect(try secrets[.master]?.isEqual(to: identity.master.seed) == true)
        await account.close()
    }

    @Test("The key of a backup that another device has made is not replaced by that of the former backup")
    func replacedBackup() async throws {
        let account = try await start()
        let former = try await account.backend.createIdentity(password: nil)
        try await account.backend.confirmRecoveryKey()
        let machine = try await cryptoMachine(account)
        let other = try KeyMaterial()
        let authData: [String: JSONValue] = ["public_key": .string("\(try BackupKey(other).publicKey)")]
        server.replaceBackup(try await machine.signed(authData))
        await account.backend.encryptionMonitor.recoveryChanged()
        for await status in account.backend.encryptionStatuses() where status.lacksBackupKey { break }
        // As long as the storage has the key of the former backup.
        await #expect(throws: EncryptionError.incompleteRecovery) {
            try await account.backend.recover(with: former.text)
        }
        try await server.storage.add(.backup, other, with: RecoveryKeyCodec.key(from: former.text))
        await #expect(throws: EncryptionError.missingSecrets) { try await account.backend.replaceRecoveryKey() }
        #expect(try await server.storage.open(with: former.text).secrets[.backup]?.isEqual(to: other) == true)
        // The recovery key supplies it. From then on, it is the one that is stored.
        try await account.backend.recover(with: former.text)
        for await status in account.backend.encryptionStatuses() where !status.lacksBackupKey { break }
        #expect(try await machine.storedSecrets()[.backup]?.isEqual(to: other) == true)
        let next = try await account.backend.replaceRecoveryKey()
        #expect(try await server.storage.open(with: next.text).secrets[.backup]?.isEqual(to: other) == true)
        await account.close()
    }

    @Test("A backup that is turned on again asks for a recovery key if the storage has another key by then")
    func changedStorage() async throws {
        let account = try await start()
        let key = try await account.backend.createIdentity(password: nil)
        try await account.backend.confirmRecoveryKey()
        let machine = try await cryptoMachine(account)
        try await account.backend.setBackupEnabled(false)
        try await account.backend.setBackupEnabled(true)
        #expect(try await !machine.isBackupKeyUnstored())
        try await account.backend.setBackupEnabled(false)
        try await server.storage.add(.backup, KeyMaterial(), with: RecoveryKeyCodec.key(from: key.text))
        try await account.backend.setBackupEnabled(true)
        #expect(try await machine.isBackupKeyUnstored())
        await reaches(.incomplete, account)
        await account.close()
    }

    @Test("A backup that an earlier version turned off is complete again with the next recovery key")
    func backupOfEarlierVersion() async throws {
        let account = try await start()
        let former = try await account.backend.createIdentity(password: nil)
        try await account.backend.confirmRecoveryKey()
        let machine = try await cryptoMachine(account)
        try await account.backend.setBackupEnabled(false)
        // Earlier versions did not note which entry has the key.
        let key = try #require(try await machine.storedSecrets()[.backup])
        try await server.storage.add(.backup, key, with: RecoveryKeyCodec.key(from: former.text))
        try await account.backend.setBackupEnabled(true)
        await reaches(.incomplete, account)
        let next = try await account.backend.replaceRecoveryKey()
        try await account.backend.confirmRecoveryKey()
        await reaches(.ready, account)
        #expect(try await server.storage.open(with: next.text).secrets[.backup]?.isEqual(to: key) == true)
        await account.close()
    }

    @Test("That the storage lacks a backup key matters only while the backup has this key")
    func keyOfOtherBackup() async throws {
        let account = try await start()
        _ = try await account.backend.createIdentity(password: nil)
        let machine = try await cryptoMachine(account)
        let current = try #require(try await machine.storedSecrets()[.backup])
        let other = try KeyMaterial()
        let entry = try #require(try await server.storage.state()?.secrets[.backup])
        try await machine.noteBackupKeyUnstored(other)
        #expect(try await !machine.isBackupKeyUnstored())
        try await machine.noteBackupKeyUnstored(current)
        try await machine.noteBackupKey(other, isIn: entry)
        #expect(try await machine.isBackupKeyUnstored())
        try await machine.noteBackupKey(current, isIn: entry)
        #expect(try await !machine.isBackupKeyUnstored())
        await account.close()
    }

    @Test("A credential that is to end with the program stays stored while keys would be lost with it")
    func storedCredential() async throws {
        let account = try await start()
        let user = EncryptedAccount.user.rawValue
        let inMemory = KeyCredential(account: user, place: MemoryCredentialStore(), others: [credentials])
        await account.backend.openKeys(of: "D", credential: inMemory)
        _ = try await account.backend.createIdentity(password: nil)
        await reaches(.unsaved, account)
        #expect(await credentials.credential(of: KeyCredential.name(of: user)) != nil)
        try await account.backend.confirmRecoveryKey()
        while await credentials.credential(of: KeyCredential.name(of: user)) != nil {
            try await Task.sleep(for: .milliseconds(5))
        }
        await account.close()
    }

    @Test("A confirmed device that lacks keys of the identity gets them with the recovery key")
    func missingIdentityKeys() async throws {
        let account = try await start()
        let key = try await account.backend.createIdentity(password: nil)
        try await account.backend.confirmRecoveryKey()
        let machine = try await cryptoMachine(account)
        try await machine.store(nil, as: .userSigning)
        await account.backend.encryptionMonitor.recoveryChanged()
        for await status in account.backend.encryptionStatuses() where status.lacksIdentityKeys { break }
        await #expect(throws: EncryptionError.missingSecrets) { try await account.backend.replaceRecoveryKey() }
        try await account.backend.recover(with: key.text)
        for await status in account.backend.encryptionStatuses() where !status.lacksIdentityKeys { break }
        #expect(try await machine.storedSecrets()[.userSigning] != nil)
        await account.close()
    }

    // MARK: Recovery

    /// - Returns: The recovery key of an identity that a former device has created.
    private func madeElsewhere() async throws -> RecoveryKey {
        let account = try await start()
        let key = try await account.backend.createIdentity(password: nil)
        await account.close()
        return key
    }

    @Test("A device whose signature the server does not store is not reported as confirmed")
    func lostSignature() async throws {
        let key = try await madeElsewhere()
        let account = try await signInAgain()
        server.dropSignatures(true)
        await #expect(throws: EncryptionError.rejected(reason: "signature")) {
            try await account.backend.recover(with: key.text)
        }
        server.dropSignatures(false)
        try await account.backend.recover(with: key.text)
        #expect(try await cryptoMachine(account).ownIdentity() == .confirmed)
        await account.close()
    }

    @Test(
        "A storage without the master key or the self-signing key confirms nothing and changes nothing",
        arguments: [SecretName.master, .selfSigning])
    func incompleteStorage(missing: SecretName) async throws {
        let first = try await start()
        _ = try await first.backend.createIdentity(password: nil)
        var secrets = try await cryptoMachine(first).storedSecrets()
        await first.close()
        secrets[missing] = nil
        let created = try await server.storage.create(secrets)
        let account = try await signInAgain()
        await #expect(throws: EncryptionError.incompleteRecovery) {
            try await account.backend.recover(with: created.recoveryKey.text)
        }
        let machine = try await cryptoMachine(account)
        #expect(try await machine.storedSecrets().isEmpty)
        #expect(try await machine.ownIdentity() == .unconfirmed)
        await account.close()
    }

    @Test(
        "The recovery key confirms no master key that the server has put above the user's self-signing key",
        arguments: [false, true])
    func madeUpMaster(wasConfirmed: Bool) async throws {
        let first = try await start()
        let key = try await first.backend.createIdentity(password: nil)
        try await first.backend.confirmRecoveryKey()
        let secret = try #require(try await cryptoMachine(first).storedSecrets()[.selfSigning])
        let user = ExactText(EncryptedAccount.user.rawValue)
        let identity = try TestIdentity(user, number: 1, selfSigning: SigningKey(seed: secret))
        server.set(try TestIdentity.answer([identity], to: user))
        if !wasConfirmed { await first.close() }
        let account = try await wasConfirmed ? first : signInAgain()
        await #expect(throws: EncryptionError.incompleteRecovery) {
            try await account.backend.recover(with: key.text)
        }
        let machine = try await cryptoMachine(account)
        let standing: EncryptionStatus.Identity = wasConfirmed ? .replaced : .unconfirmed
        #expect(try await machine.ownIdentity() == standing)
        await account.close()
    }

    @Test("A backup that fails does not undo the confirmation, and is restored later")
    func failingBackup() async throws {
        let key = try await madeElsewhere()
        let account = try await signInAgain()
        server.failBackups(true)
        try await account.backend.recover(with: key.text)
        let machine = try await cryptoMachine(account)
        #expect(try await machine.ownIdentity() == .confirmed)
        #expect(try await machine.storedSecrets()[.backup] == nil)
        server.failBackups(false)
        while try await machine.storedSecrets()[.backup] == nil {
            // Ends the monitor's pause after a failure.
            await account.backend.encryptionMonitor.invalidateRecovery()
            try await Task.sleep(for: .milliseconds(5))
        }
        await account.close()
    }
}
