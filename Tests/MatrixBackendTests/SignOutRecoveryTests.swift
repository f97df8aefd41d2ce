import ChatCore
import ChatTestSupport
import Testing
import ToolSupport

@testable import MatrixBackend

/// What is said of the recovery key before an account is signed out.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct SignOutRecoveryTests {
    private let server = IdentityServer()
    private let folder = TemporaryFolder()
    private let credentials = MemoryCredentialStore()

    @Test("A recovery key that is not saved is lost with the only device")
    func unsavedKey() async throws {
        let account = try await EncryptedAccount.start(in: folder, credentials) { [server] in server.answer($0) }
        let backend = account.backend
        func reaches(_ recovery: EncryptionStatus.Recovery) async {
            for await status in backend.encryptionStatuses() where status.recovery == recovery { return }
        }
        _ = try await backend.createIdentity(password: nil)
        await reaches(.unsaved)
        #expect(await backend.recoveryAfterSignOut() == .unsaved)
        try await backend.confirmRecoveryKey()
        await reaches(.ready)
        #expect(await backend.recoveryAfterSignOut() == .ready)
        await account.close()
    }

    @Test("Where the keys cannot be opened, the recovery key could not be checked")
    func lockedKeys() async throws {
        var account = try await EncryptedAccount.start(in: folder, credentials)
        let ann = try await account.peer()
        try await account.sync([try ann.text("$1", "x")], toDevice: [try ann.key()])
        await account.close()
        account = try await EncryptedAccount.start(in: folder, nil)
        #expect(await account.backend.recoveryAfterSignOut() == .unknown)
        await account.close()
    }

    @Test("Without room keys, there is nothing to check")
    func withoutRoomKeys() async throws {
        var account = try await EncryptedAccount.start(in: folder, credentials)
        await account.close()
        account = try await EncryptedAccount.start(in: folder, nil)
        #expect(await account.backend.recoveryAfterSignOut() == .ready)
        await account.close()
    }
}
