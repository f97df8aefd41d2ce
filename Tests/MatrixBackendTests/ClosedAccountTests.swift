import ChatCore
import ChatStore
import ChatTestSupport
import CryptoTestSupport
import MatrixCrypto
import Testing
import ToolSupport

@testable import MatrixBackend

/// What remains of an account that was closed, as after signing out.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct ClosedAccountTests {
    /// What an account consists of, to see that all of it is released.
    private struct Parts {
        weak var backend: MatrixBackend?
        weak var store: ChatStore?
        weak var keys: AccountEncryption?
        weak var machine: CryptoMachine?
        weak var server: FakeHomeserver?

        var remaining: [String] {
            [
                backend.map { _ in "backend" }, store.map { _ in "store" }, keys.map { _ in "keys" },
                machine.map { _ in "machine" }, server.map { _ in "connection" },
            ].compactMap(\.self)
        }
    }

    private let folder = TemporaryFolder()

    @Test("Nothing of a closed account stays in memory")
    func release() async throws {
        let parts = try await useAndClose()
        // Its last tasks are ending.
        for _ in 0..<3000 where !parts.remaining.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        #expect(parts.remaining == [])
    }

    private func useAndClose() async throws -> Parts {
        let account = try await EncryptedAccount.start(in: folder, MemoryCredentialStore())
        let peer = try await account.peer()
        let key = try peer.key()
        try await account.sync([peer.text("$1", "Tea?")], toDevice: [key])
        _ = try await account.message("$1") { $0.seal == nil }
        try await account.backend.send(Fixtures.outgoing("Coffee", transaction: "t"), to: account.room)
        await account.backend.displayed(in: account.room) { $0.contains { $0.text == "Coffee" } }
        let parts = Parts(
            backend: account.backend, store: account.store, keys: account.backend.keys,
            machine: await account.backend.keys.machine, server: account.server)
        await account.close()
        return parts
    }
}
