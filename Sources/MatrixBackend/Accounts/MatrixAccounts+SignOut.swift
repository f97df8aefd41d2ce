public import ChatCore
import ChatStore
import Foundation
import MatrixCrypto

extension MatrixAccounts {
    public func pendingCount(of account: String) async throws -> PendingCount {
        guard let entry = entry(account) else { throw ChatError.notFound }
        guard let store = entry.store, let backend = entry.backend else {
            throw ChatError.storage(reason: "the account is not open")
        }
        var count = try await store.pendingCount()
        count.keys = try? await backend.keys.keysWithoutBackup()
        count.recovery = await backend.recoveryAfterSignOut()
        return count
    }

    public func signOut(_ account: String, isForced: Bool) async throws {
        try await ongoingWork.run { try await end(account, isForced: isForced) }
    }

    private func end(_ account: String, isForced: Bool) async throws {
        guard let entry = entry(account) else { return }
        do {
            try await endSession(of: entry)
        } catch {
            guard isForced else { throw try SignInProblem.of(error) }
        }
        // For the next start, if the process ends before the folder is set aside. Without the mark, as on a full disk,
        // the account can be signed out nevertheless.
        try? folders.markSignedOut(account)
        do {
            // Remove the account from the list first: an interruption must not leave it half removed.
            try await list.removeAccount(account)
        } catch {
            // A mark that stays is removed by the next start, which finds the account in the list.
            try? folders.unmarkSignedOut(account)
            throw error
        }
        // Looked up again: the account may have been opened meanwhile.
        guard let removed = self.entry(account) else { return }
        entries.removeAll { $0.account.id == account }
        publishStates()
        let departure = Task { await remove(removed) }
        departures[account] = departure
        await departure.value
        departures[account] = nil
    }

    /// Closes an account that is not listed any more, and removes what it has stored.
    private func remove(_ entry: Entry) async {
        let account = entry.account.id
        await waitForOpening(of: account)
        entry.following.forEach { $0.cancel() }
        await entry.backend?.close()
        await entry.store?.close()
        // Before the credentials: the keyring may ask for its password, and a program that ends meanwhile would leave a
        // folder whose messages a later sign-in sends. If it cannot be renamed, the next start tries again.
        try? folders.setAside(account)
        async let removal: Void = folders.removeRemains()
        // The session has ended and the account is not listed any more: what is left is never read again.
        for name in [account, KeyCredential.name(of: account)] + KeyCredential.earlierNames(of: account) {
            await memory.removeCredential(of: name)
            try? await folders.credentialStore.removeCredential(of: name)
            try? await keyring.removeCredential(of: name)
        }
        await removal
    }

    /// Ends the session on the server. That no token was read yet does not say that there is no session.
    private func endSession(of entry: Entry) async throws {
        if let client = entry.backend?.client, client.token != nil { return try await client.logOut() }
        // The server has ended it, or its token is kept nowhere.
        guard !entry.condition.needsSignIn, let server = URL(string: entry.account.server) else { return }
        let token: AccessToken
        do {
            guard let credential = try await storedCredential(of: entry.account.id) else { return }
            token = AccessToken(credential.value.value)
        } catch let error as CredentialStoreError {
            throw SignInProblem.credential(error)
        }
        try await MatrixClient(server: server, token: token, transport: transport).logOut()
    }
}

extension MatrixBackend {
    /// See ``PendingCount/recovery``. An unknown one does not matter to a device without room keys.
    func recoveryAfterSignOut() async -> EncryptionStatus.Recovery {
        let recovery = encryptionMonitor.statuses.value.recoveryAfterSignOut
        guard recovery == .unknown else { return recovery }
        // If this cannot be read, there may be some.
        let hasRoomKeys = (try? await keys.hasRoomKeys()) ?? true
        return hasRoomKeys ? .unknown : .ready
    }
}

extension AccountEncryption {
    /// Whether this device has any room key, even one that cannot be opened.
    fileprivate func hasRoomKeys() async throws -> Bool {
        if let machine { return try await machine.hasRoomKeys() }
        guard let storage = try await roomStorage() else { return false }
        return try await storage.cryptoRecordCount(.inboundGroupSession) > 0
    }
}
