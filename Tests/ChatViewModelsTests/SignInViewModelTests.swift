import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatViewModels

@MainActor
@Suite(.timeLimit(.minutes(10)))
struct SignInViewModelTests {
    private static let server = SignInServer(
        url: URL(string: "https://example.org")!, supportsPassword: true, hasWebPage: false)
    private static let ann = Account(
        id: "@ann:example.org", kind: "matrix", server: "https://example.org", device: "D", name: "Ann")

    private let service = FakeAccountService()
    private let added = Recorder<String>()

    private func make(again: Account? = nil) -> SignInViewModel {
        let viewModel = SignInViewModel(service: service, again: again) { [added] in added.record($0) }
        viewModel.start()
        return viewModel
    }

    private func signIn(_ viewModel: SignInViewModel) {
        viewModel.send(.signIn(name: " ann ", password: AccountCredential("x")))
    }

    /// Returns a view model that has advanced to the login step.
    private func found() async -> SignInViewModel {
        service.found = .success(Self.server)
        let viewModel = make()
        viewModel.send(.find("example.org"))
        await eventually { viewModel.state.step == .credentials(Self.server) }
        return viewModel
    }

    @Test func signInSucceeds() async {
        let viewModel = await found()
        service.signInResult = .success(Self.ann)
        service.publish([AccountState(account: Self.ann, condition: .connecting)])
        signIn(viewModel)
        await eventually { viewModel.state.step == .starting && added.values == [Self.ann.id] }
        service.publish([AccountState(account: Self.ann, condition: .online)])
        await eventually { viewModel.state.step == .done }
        #expect(added.values == [Self.ann.id] && viewModel.state.isOver)
        #expect(service.calls == ["server example.org", "signIn", "store keyring", "begin"])
    }

    @Test(arguments: [
        SignInProblem.notAnAddress, .unreachable(reason: "x"), .noHomeserver(reason: "x"), .tooOften(wait: .seconds(2)),
    ])
    func serverProblemIsShownAtTheServerStep(problem: SignInProblem) async {
        service.found = .failure(problem)
        let viewModel = make()
        viewModel.send(.find("example.org"))
        await eventually { viewModel.state.problem == problem }
        #expect(viewModel.state.step == .server)
        // The next attempt clears the problem.
        service.gate = Gate()
        viewModel.send(.find("example.com"))
        #expect(viewModel.state.problem == nil && viewModel.state.step == .finding)
        service.gate?.open()
    }

    @Test(arguments: [
        SignInProblem.wrongPassword, .wrongToken, .deactivated, .tooOften(wait: nil), .otherUser, .otherDevice,
        .alreadyHere,
        .rejected(reason: "x"), .unreachable(reason: "x"),
    ])
    func credentialProblemIsShownAtTheCredentialStep(problem: SignInProblem) async {
        let viewModel = await found()
        service.signInResult = .failure(problem)
        signIn(viewModel)
        await eventually { viewModel.state.problem == problem }
        #expect(viewModel.state.step == .credentials(Self.server))
        viewModel.send(.back)
        #expect(viewModel.state.step == .server && viewModel.state.problem == nil)
    }

    @Test(arguments: [CredentialStoreError.locked, .unavailable(reason: "none")])
    func keyringFailureAsksHowToProceed(error: CredentialStoreError) async {
        let viewModel = await found()
        service.signInResult = .success(Self.ann)
        service.credentialFailures = [.keyring: error]
        signIn(viewModel)
        await eventually { viewModel.state.step == .credentialError(error) }
        #expect(!service.calls.contains("begin"))
        viewModel.send(.retryKeyring)
        #expect(viewModel.state.step == .storing(error))
        await eventually { viewModel.state.step == .credentialError(error) }
        #expect(service.calls.count { $0 == "store keyring" } == 2)
        service.credentialFailures = [:]
        viewModel.send(.storeCredential(.file))
        await eventually { added.values.contains(Self.ann.id) }
        #expect(service.calls.suffix(2) == ["store file", "begin"])
    }

    @Test func matrixIDTypedAsServerFillsInTheName() async {
        service.found = .success(Self.server)
        let viewModel = make()
        viewModel.send(.find(" @ann:example.org"))
        await eventually { viewModel.state.step == .credentials(Self.server) }
        #expect(viewModel.state.name == "@ann:example.org")
    }

    @Test func signingInAgainAsksOnlyForThePassword() async {
        service.found = .success(Self.server)
        service.signInResult = .success(Self.ann)
        let viewModel = make(again: Self.ann)
        await eventually { viewModel.state.step == .credentials(Self.server) }
        #expect(viewModel.state.name == Self.ann.id && !viewModel.state.canGoBack)
        signIn(viewModel)
        await eventually { added.values.contains(Self.ann.id) }
        #expect(service.calls.contains("signIn again @ann:example.org"))
    }

    @Test func storageFailureEndsTheSession() async {
        let viewModel = await found()
        service.signInResult = .success(Self.ann)
        service.beginFailure = .storage(reason: "x")
        signIn(viewModel)
        await eventually { viewModel.state.problem == .storage(reason: "x") }
        #expect(service.calls.suffix(2) == ["begin", "abandon"] && viewModel.state.step == .server)
    }

    @Test("Sign-in requires complete input and runs once at a time")
    func signInRequiresCompleteInput() async {
        let viewModel = await found()
        var state = viewModel.state
        #expect(
            !state.canSignIn(name: " ", password: "x", token: "t")
                && !state.canSignIn(name: "a", password: "", token: "")
        )
        #expect(state.canSignIn(name: "a", password: " ", token: ""))
        viewModel.send(.changeWay)
        state = viewModel.state
        #expect(state.usesToken && !state.canSignIn(name: "a", password: "x", token: ""))
        #expect(state.canSignIn(name: "", password: "", token: "t"))
        #expect(state.canFind("a") && !state.canFind(" "))
        service.gate = Gate()
        signIn(viewModel)
        #expect(!viewModel.state.canSignIn(name: "", password: "", token: "t") && !viewModel.state.canFind("a"))
        service.gate?.open()
    }

    @Test("A server without passwords offers sign-in by token only")
    func tokenOnly() async {
        service.found = .success(
            SignInServer(url: URL(string: "https://example.org")!, supportsPassword: false, hasWebPage: true))
        let viewModel = make()
        viewModel.send(.find("example.org"))
        await eventually { if case .credentials = viewModel.state.step { true } else { false } }
        viewModel.send(.changeWay)
        #expect(viewModel.state.usesToken && !viewModel.state.canChangeWay)
    }

    // MARK: Canceling

    @Test func cancelingDiscoveryReturnsToTheServerStep() async {
        service.gate = Gate()
        service.found = .success(Self.server)
        let viewModel = make()
        viewModel.send(.find("example.org"))
        await eventually { service.gate?.waiting == 1 }
        viewModel.send(.cancel)
        #expect(viewModel.state.step == .server && !viewModel.state.isOver)
        service.gate?.open()
        await waitUntilIdle()
        #expect(viewModel.state.step == .server)
        viewModel.send(.cancel)
        #expect(viewModel.state.isOver && added.values.isEmpty)
    }

    @Test func sessionArrivingAfterCancellationIsEnded() async {
        let viewModel = await found()
        service.gate = Gate()
        service.signInResult = .success(Self.ann)
        signIn(viewModel)
        await eventually { service.gate?.waiting == 1 }
        viewModel.send(.cancel)
        #expect(viewModel.state.step == .credentials(Self.server))
        service.gate?.open()
        while !service.calls.contains("abandon") { await Task.yield() }
        #expect(!service.calls.contains("begin"))
    }

    @Test func cancelingAtTheKeyringEndsTheSession() async {
        let viewModel = await found()
        service.signInResult = .success(Self.ann)
        service.credentialFailures = [.keyring: .locked]
        signIn(viewModel)
        await eventually { viewModel.state.step == .credentialError(.locked) }
        viewModel.send(.cancel)
        #expect(viewModel.state.isOver && added.values.isEmpty)
        while !service.calls.contains("abandon") { await Task.yield() }
    }

    @Test("Canceling while the account is being added keeps it") func cancelingTheActivation() async {
        let viewModel = await found()
        service.signInResult = .success(Self.ann)
        service.publish([AccountState(account: Self.ann, condition: .connecting)])
        let gate = Gate()
        service.activationGate = gate
        signIn(viewModel)
        await eventually { gate.waiting == 1 }
        viewModel.send(.cancel)
        await waitUntilIdle()
        gate.open()
        await eventually { added.values == [Self.ann.id] }
        #expect(viewModel.state.isOver && !service.calls.contains("abandon"))
    }

    @Test("A canceled attempt that logs in late ends its own session, not that of the next attempt")
    func lateSession() async {
        let viewModel = await found()
        service.signInResult = .success(Self.ann)
        service.publish([AccountState(account: Self.ann, condition: .connecting)])
        service.credentialFailures = [.keyring: .locked]
        let gate = Gate()
        service.gate = gate
        signIn(viewModel)
        await eventually { gate.waiting == 1 }
        viewModel.send(.cancel)
        service.gate = nil
        signIn(viewModel)
        await eventually { viewModel.state.step == .credentialError(.locked) }
        gate.open()
        await waitUntilIdle()
        #expect(service.calls.filter { $0 == "abandon" }.count == 1)
        service.credentialFailures = [:]
        viewModel.send(.retryKeyring)
        await eventually { added.values == [Self.ann.id] }
    }

    @Test func cancelingTheFirstSyncKeepsTheAccount() async {
        let viewModel = await found()
        service.signInResult = .success(Self.ann)
        service.publish([AccountState(account: Self.ann, condition: .connecting)])
        signIn(viewModel)
        await eventually { added.values == [Self.ann.id] }
        viewModel.send(.cancel)
        #expect(added.values == [Self.ann.id] && viewModel.state.isOver)
        await waitUntilIdle()
        #expect(!service.calls.contains("abandon"))
    }
}
