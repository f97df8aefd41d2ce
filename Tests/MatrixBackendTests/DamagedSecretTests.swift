import ChatCore
import ChatTestSupport
import Foundation
import Testing
import ToolSupport

@testable import MatrixBackend
@testable import MatrixCrypto

/// Private keys of the user that cannot be decrypted on this device.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct DamagedSecretTests {
    @Test(
        "With a damaged private key, the account says what it lacks, and the recovery key brings it back.",
        arguments: SecretName.allCases)
    func recovery(_ name: SecretName) async throws {
        let (server, folder, credentials) = (IdentityServer(), TemporaryFolder(), MemoryCredentialStore())
        var account = try await EncryptedAccount.start(in: folder, credentials) { server.answer($0) }
        let key = try await account.backend.createIdentity(password: nil)
        try await account.backend.confirmRecoveryKey()
        for await status in account.backend.encryptionStatuses() where status.backup == .on(remaining: 0) { break }
        let machine = try #require(await account.backend.keys.machine)
        let damaged = CryptoRecord(name.record, value: Data("damaged".utf8))
        try await machine.storage.commit(CryptoChange(put: [damaged]))
        await account.close()

        account = try await EncryptedAccount.start(in: folder, credentials) { server.answer($0) }
        for await status in account.backend.encryptionStatuses()
        where name == .backup ? status.lacksBackupKey : status.lacksIdentityKeys {
            #expect(status.identity == .confirmed)
            break
        }
        try await account.backend.recover(with: key.text)
        let again = try #require(await account.backend.keys.machine)
        #expect(try await again.storedSecrets().count == SecretName.allCases.count)
        for await status in account.backend.encryptionStatuses()
        where !status.lacksBackupKey && !status.lacksIdentityKeys && status.backup == .on(remaining: 0) { break }
        await account.close()
    }

    @Test(
        "With a damaged private key and a recovery key that was never shown, that one is shown and opens everything.",
        arguments: SecretName.allCases)
    func unsavedRecoveryKey(_ name: SecretName) async throws {
        let (server, folder, credentials) = (IdentityServer(), TemporaryFolder(), MemoryCredentialStore())
        var account = try await EncryptedAccount.start(in: folder, credentials) { server.answer($0) }
        let key = try await account.backend.createIdentity(password: nil)
        for await status in account.backend.encryptionStatuses() where status.backup == .on(remaining: 0) { break }
        let machine = try #require(await account.backend.keys.machine)
        try await machine.storage.commit(CryptoChange(put: [CryptoRecord(name.record, value: Data("damaged".utf8))]))
        await account.close()

        account = try await EncryptedAccount.start(in: folder, credentials) { server.answer($0) }
        for await status in account.backend.encryptionStatuses() where status.recovery == .unsaved { break }
        #expect(try await account.backend.replaceRecoveryKey() == key)
        #expect(try await server.storage.open(with: key.text).secrets.count == SecretName.allCases.count)
        let again = try #require(await account.backend.keys.machine)
        #expect(try await again.storedSecrets().count == SecretName.allCases.count)
        await account.close()
    }
}
