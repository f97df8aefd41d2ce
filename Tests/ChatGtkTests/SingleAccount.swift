import ChatCore

/// A service with one account, which is online.
struct SingleAccount: SignInService, AccountService {
    static let id = "@ann:x"

    func accountStates() -> AsyncStream<[AccountState]> {
        let account = Account(id: Self.id, kind: "matrix", server: "https://x", device: "D", name: "Ann")
        return AsyncStream { $0.yield([AccountState(account: account, condition: .online)]) }
    }
    func server(at address: String) async throws -> SignInServer { throw SignInProblem.notAnAddress }
    func signIn(to server: SignInServer, with credentials: SignInCredentials, again: String?) async throws -> Account {
        throw SignInProblem.wrongPassword
    }
    func storeCredential(of account: String, in place: CredentialLocation) async throws {}
    func activate(_ account: String) async throws {}
    func abandon(_ account: String) async {}
    func retry(_ account: String) async {}
    func reconnect() async {}
    func mayRestart() async -> Bool { true }
    func pendingCount(of account: String) async throws -> PendingCount { PendingCount(messages: 0, drafts: 0) }
    func signOut(_ account: String, isForced: Bool) async throws {}
}
