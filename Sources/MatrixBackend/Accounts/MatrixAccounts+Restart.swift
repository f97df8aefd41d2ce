import ChatCore
import ChatStore

extension MatrixAccounts {
    public func mayRestart() async -> Bool {
        guard pending.isEmpty else { return false }
        for entry in entries {
            // What cannot be read may be what a restart would lose.
            guard (try? await mayRestart(entry)) == true else { return false }
        }
        return true
    }

    private func mayRestart(_ entry: Entry) async throws -> Bool {
        guard entry.condition == .online, entry.encryption.problem == nil, let store = entry.store else { return false }
        let pending = try await store.pendingCount()
        guard pending.messages == 0, pending.changes == 0 else { return false }
        let id = entry.account.id
        switch entry.location {
        case .keyring: return try await !keyring.isLocked(id)
        case .file: return try await folders.credentialStore.credential(of: id) != nil
        case .memory, nil: return false
        }
    }
}
