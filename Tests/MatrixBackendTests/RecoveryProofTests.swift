import ChatCore
import ChatTestSupport
import MatrixCrypto
import Ratchets
import Testing
import ToolSupport

@testable import MatrixBackend

/// Whether the recovery key restores everything is not left to the server, which can make up a secret storage.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct RecoveryProofTests {
    private let server = IdentityServer()
    private let folder = TemporaryFolder()
    private let credentials = MemoryCredentialStore()
    private static let user = EncryptedAccount.user.rawValue

    private func start(
        in folder: TemporaryFolder, _ credentials: MemoryCredentialStore
    ) async throws -> EncryptedAccount {
        try await EncryptedAccount.start(in: folder, credentials) { [server] in server.answer($0) }
    }

    private func cryptoMachine(_ account: EncryptedAccount) async throws -> CryptoMachine {
        try #require(await account.backend.keys.machine)
    }

    /// The next status with this recovery of everything.
    private func next(
        _ recovery: EncryptionStatus.Recovery, isProven: Bool, _ account: EncryptedAccount
    ) async -> EncryptionStatus? {
        await account.backend.encryptionStatuses().first {
            $0.identity == .confirmed && $0.backup == .on(remaining: 0) && $0.recovery == recovery
                && $0.isRecoveryProven == isProven
        }
    }

    @Test("A storage that this device has not opened ends no credential.")
    func madeUpStorage() async throws {
        let account = try await start(in: folder, credentials)
        let inMemory = KeyCredential(account: Self.user, place: MemoryCredentialStore(), others: [credentials])
        await account.backend.openKeys(of: "D", credential: inMemory)
        _ = try await account.backend.createIdentity(password: nil)
        _ = await next(.unsaved, isProven: true, account)
        let secrets = try await cryptoMachine(account).storedSecrets()
        var madeUp: [SecretName: KeyMaterial] = [:]
        for name in SecretName.allCases { madeUp[name] = try KeyMaterial() }
        _ = try await server.storage.create(madeUp)
        await account.backend.encryptionMonitor.recoveryChanged()
        _ = await next(.unsaved, isProven: false, account)
        try await account.backend.confirmRecoveryKey()
        let status = await next(.ready, isProven: false, account)
        #expect(status?.endsWithProgram == true && status?.losesNothing == false)
        #expect(await credentials.credential(of: KeyCredential.name(of: Self.user)) != nil)
        // Another device has replaced the recovery key, which the user types.
        let created = try await server.storage.create(secrets)
        await account.backend.encryptionMonitor.recoveryChanged()
        try await account.backend.recover(with: created.recoveryKey.text)
        #expect(await next(.ready, isProven: true, account)?.losesNothing == true)
        while await credentials.credential(of: KeyCredential.name(of: Self.user)) != nil {
            try await Task.sleep(for: .milliseconds(5))
        }
        await account.close()
    }

    @Test(
        "Without a backup, a key that the device does not need is typed to prove it; one that opens another storage is not."
    )
    func checkedKey() async throws {
        let account = try await start(in: folder, credentials)
        let former = try await account.backend.createIdentity(password: nil)
        try await account.backend.confirmRecoveryKey()
        try await account.backend.setBackupEnabled(false)
        let secrets = try await cryptoMachine(account).storedSecrets()
        let created = try await server.storage.create(secrets)
        await account.backend.encryptionMonitor.recoveryChanged()
        var unproven = account.backend.encryptionStatuses().makeAsyncIterator()
        while await unproven.next()?.isRecoveryProven != false {}
        await #expect(throws: EncryptionError.wrongRecoveryKey) {
            try await account.backend.recover(with: former.text)
        }
        try await account.backend.recover(with: created.recoveryKey.text)
        var proven = account.backend.encryptionStatuses().makeAsyncIterator()
        while true {
            guard let status = await proven.next() else { break }
            guard status.isRecoveryProven else { continue }
            #expect(status.recovery == .ready && status.backup == .off)
            break
        }
        // A storage of keys that are not of this identity proves nothing.
        var madeUp: [SecretName: KeyMaterial] = [:]
        for name in SecretName.allCases { madeUp[name] = try KeyMaterial() }
        let other = try await server.storage.create(madeUp)
        await #expect(throws: EncryptionError.incompleteRecovery) {
            try await account.backend.recover(with: other.recoveryKey.text)
        }
        await account.close()
    }

    @Test("A storage that opens only the backup, which the device can read anyway, does not pass for a recovery.")
    func storageOfAnotherIdentity() async throws {
        let account = try await start(in: folder, credentials)
        _ = try await account.backend.createIdentity(password: nil)
        try await account.backend.confirmRecoveryKey()
        _ = await next(.ready, isProven: true, account)
        var entries = try await cryptoMachine(account).storedSecrets()
        for name in SecretName.allCases where name != .backup { entries[name] = try KeyMaterial() }
        let created = try await server.storage.create(entries)
        await account.backend.encryptionMonitor.recoveryChanged()
        _ = await next(.ready, isProven: false, account)
        await #expect(throws: EncryptionError.incompleteRecovery) {
            try await account.backend.recover(with: created.recoveryKey.text)
        }
        await account.close()
    }

    @Test("The recovery key is proven where the storage was created, where it was typed, and where it was replaced.")
    func provenRecovery() async throws {
        let first = try await start(in: folder, credentials)
        let key = try await first.backend.createIdentity(password: nil)
        try await first.backend.confirmRecoveryKey()
        #expect(await next(.ready, isProven: true, first)?.losesNothing == true)
        let secrets = try await cryptoMachine(first).storedSecrets()
        await first.close()
        server.forgetDevices()
        let second = try await start(in: TemporaryFolder(), MemoryCredentialStore())
        // As if another device had confirmed it and sent the secrets.
        let machine = try await cryptoMachine(second)
        #expect(await second.backend.keys.makeAllRequests())
        #expect(try await machine.adopt(secrets).count == 3)
        try await machine.setBackupKey(#require(secrets[.backup]))
        #expect(await second.backend.keys.makeAllRequests())
        try await machine.outdateOwnDevices()
        #expect(await second.backend.keys.makeAllRequests())
        await second.backend.encryptionMonitor.invalidateRecovery()
        #expect(await next(.ready, isProven: false, second)?.losesNothing == false)
        try await second.backend.recover(with: key.text)
        #expect(await next(.ready, isProven: true, second)?.losesNothing == true)
        _ = try await second.backend.replaceRecoveryKey()
        #expect(await next(.unsaved, isProven: true, second)?.losesNothing == false)
        try await second.backend.confirmRecoveryKey()
        #expect(await next(.ready, isProven: true, second)?.losesNothing == true)
        await second.close()
    }
}
