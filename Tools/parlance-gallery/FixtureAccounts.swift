import ChatCore
import Synchronization

/// A single account, which is signed in and online.
final class FixtureAccounts: SignInService, AccountService {
    private nonisolated struct State {
        var encryption = EncryptionCondition.on
        var receivers: [AsyncStream<[AccountState]>.Continuation] = []

        var accounts: [AccountState] {
            [AccountState(account: FixtureAccounts.account, condition: .online, encryption: encryption)]
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
    /// Content of each kind that signing out would lose.
    func pendingCount(of account: String) async throws -> PendingCount {
        PendingCount(messages: 1, drafts: 2, keys: 312)
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
