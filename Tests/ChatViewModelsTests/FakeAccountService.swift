import ChatCore
import ChatTestSupport

@testable import ChatViewModels

/// Returns preset results and records calls.
@MainActor final class FakeAccountService: SignInService, AccountService {
    var found: Result<SignInServer, SignInProblem> = .failure(.unreachable(reason: ""))
    var signInResult: Result<Account, SignInProblem> = .failure(.wrongPassword)
    var credentialFailures: [CredentialLocation: CredentialStoreError] = [:]
    var beginFailure: SignInProblem?
    var unsentCount = PendingCount(messages: 0, drafts: 0)
    var signOutFailure: SignInProblem?
    /// If set, `signOut` waits for this gate.
    var signOutGate: Gate?
    var isRestartable = true
    /// If set, `signIn` waits for this gate.
    var gate: Gate?
    /// If set, `activate` waits for this gate.
    var activationGate: Gate?
    private(set) var calls: [String] = []
    private var states: [AccountState] = []
    private var observers = Observers<[AccountState]>()

    func publish(_ states: [AccountState]) {
        self.states = states
        observers.yield(states)
    }

    nonisolated func accountStates() -> AsyncStream<[AccountState]> {
        let (stream, continuation) = AsyncStream.makeStream(of: [AccountState].self)
        Task { await observe(continuation) }
        return stream
    }

    private func observe(_ continuation: AsyncStream<[AccountState]>.Continuation) {
        continuation.yield(states)
        _ = observers.add(continuation)
    }

    @MainActor func server(at address: String) async throws -> SignInServer {
        calls.append("server \(address)")
        await gate?.pass()
        return try found.get()
    }

    @MainActor func signIn(to server: SignInServer, with credentials: SignInCredentials, again: String?) async throws
        -> Account
    {
        calls.append("signIn" + (again.map { " again \($0)" } ?? ""))
        await gate?.pass()
        return try signInResult.get()
    }

    @MainActor func storeCredential(of account: String, in place: CredentialLocation) async throws {
        calls.append("store \(place)")
        if let failure = credentialFailures[place] { throw failure }
    }

    @MainActor func activate(_ account: String) async throws {
        calls.append("begin")
        await activationGate?.pass()
        if let beginFailure { throw beginFailure }
    }

    @MainActor func abandon(_ account: String) async { calls.append("abandon") }
    @MainActor func retry(_ account: String) async { calls.append("retry \(account)") }
    @MainActor func reconnect() async { calls.append("wake") }
    @MainActor func mayRestart() async -> Bool { isRestartable }
    @MainActor func pendingCount(of account: String) async throws -> PendingCount { unsentCount }

    @MainActor func signOut(_ account: String, isForced: Bool) async throws {
        calls.append("signOut\(isForced ? " forced" : "")")
        await signOutGate?.pass()
        if let signOutFailure, !isForced { throw signOutFailure }
        publish(states.filter { $0.id != account })
    }
}
