public import ChatCore
import ChatStore

extension MatrixAccounts {
    public func pendingCount(of account: String) async throws -> PendingCount {
        guard let entry = entry(account) else { throw ChatError.notFound }
        guard let store = entry.store else { return PendingCount(messages: 0, drafts: 0) }
        var count = try await store.pendingCount()
        count.keys = try await entry.backend?.keys.keysWithoutBackup() ?? 0
        return count
    }

    public func signOut(_ account: String, isForced: Bool) async throws {
        guard let entry = entry(account) else { return }
        do {
            // Without a token there is no session to log out of.
            if let client = entry.backend?.client, client.token != nil { try await client.logOut() }
        } catch {
            guard isForced else { throw try SignInProblem.of(error) }
        }
        // Remove the account from the list first: an interruption must not leave it half removed.
        try await list.removeAccount(account)
        entries.removeAll { $0.account.id == account }
        publishStates()
        entry.following.forEach { $0.cancel() }
        await entry.backend?.close()
        await entry.store?.close()
        // The session has ended and the account is not listed any more: what is left is never read again.
        for name in [account, KeyCredential.name(of: account)] {
            await memory.removeCredential(of: name)
            try? await folders.credentialStore.removeCredential(of: name)
            try? await keyring.removeCredential(of: name)
        }
        try? folders.remove(account)
    }
}
