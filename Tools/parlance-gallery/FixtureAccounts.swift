import ChatCore
import Synchronization

/// A single account, which is signed in and online.
final class FixtureAccounts: SignInService, AccountService {
    private nonisolated struct State {
        var condition = AccountCondition.online
        var encryption = EncryptionCondition.on
        var pending: PendingCount?
        var receivers: [AsyncStream<[AccountState]>.Continuation] = []

        var accounts: [AccountState] {
            [AccountState(account: FixtureAccounts.account, condition: condition, encryption: encryption)]
        }
    }

    nonisolated static let account = Account(
        id: "@robin:example.org", kind: "matrix", server: "https://example.org", device: "GKYXPCNWTZ", name: "Robin")

    private let state = Mutex(State())

    func set(_ encryption: EncryptionCondition) {
        state.withLock { state in
            state.encryption = encryption
            for receiver in state.receivers { receiver.yield(state.accounts) }
        }
    }

    func set(_ condition: AccountCondition) {
        state.withLock { state in
            state.condition = condition
            for receiver in state.receivers { receiver.yield(state.accounts) }
        }
    }

    /// Sets what signing out would lose; `nil` while it is being counted.
    func set(pending: PendingCount?) { state.withLock { $0.pending = pending } }

    // MARK: AccountService

    func accountStates() -> AsyncStream<[AccountState]> {
        AsyncStream { continuation in
            state.withLock { state in
                state.receivers.append(continuation)
                continuation.yield(state.accounts)
            }
        }
    }
    func retry(_ account: String) async {}
    func reconnect() async {}
    func mayRestart() async -> Bool { true }
    func pendingCount(of account: String) async throws -> PendingCount {
        while true {
            if let pending = state.withLock({ $0.pending }) { return pending }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
    func signOut(_ account: String, isForced: Bool) async throws {}

    // MARK: SignInService

    func server(at address: String) async throws -> SignInServer { throw SignInProblem.notAnAddress }
    func signIn(to server: SignInServer, with credentials: SignInCredentials, again: String?) async throws -> Account {
        throw SignInProblem.wrongPassword
    }
    func storeCredential(of account: String, in location: CredentialLocation) async throws {}
    func activate(_ account: String) async throws {}
    func abandon(_ account: String) async {}
}
