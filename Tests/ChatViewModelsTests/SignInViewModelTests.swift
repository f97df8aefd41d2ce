import ChatCore
import Foundation
import Testing

@testable import ChatViewModels

@MainActor
@Suite(.timeLimit(.minutes(5)))
struct SignInViewModelTests {
    private static let server = SignInServer(
        url: URL(string: "https://example.org")!, supportsPassword: true, hasWebPage: false)
    private static let ann = Account(
        id: "@ann:example.org", kind: "matrix", server: "https://example.org", device: "D", name: "Ann")

    private let service = FakeAccountService()
    private let outputs = Recorder<SignInViewModel.Output>()

    private func make(again: Account? = nil) -> SignInViewModel {
        let viewModel = SignInViewModel(service: service, again: again)
        viewModel.onOutput = { [outputs] in outputs.record($0) }
        viewModel.start()
        return viewModel
    }

    private func logIn(_ viewModel: SignInViewModel) {
        viewModel.send(.logIn(name: " ann ", password: AccountCredential("x")))
    }

    /// Returns a view model that has advanced to the login step.
    private func found() async -> SignInViewModel {
        service.found = .success(Self.server)
        let viewModel = make()
        viewModel.send(.find("example.org"))
        await eventually { viewModel.state.step == .credentials(Self.server) }
        return viewModel
    }

    @Test func allTheWay() async {
        let viewModel = await found()
        service.loggedIn = .success(Self.ann)
        service.tell([AccountState(account: Self.ann, condition: .connecting)])
        logIn(viewModel)
        await eventually { viewModel.state.step == .starting && outputs.values == [.added(Self.ann.id)] }
        service.tell([AccountState(account: Self.ann, condition: .online)])
        await eventually { viewModel.state.step == .done }
        #expect(outputs.values == [.added(Self.ann.id), .finished])
        #expect(service.calls == ["server example.org", "logIn", "keep keyring", "begin"])
    }

    @Test(arguments: [
        SignInProblem.notAnAddress, .unreachable(reason: "x"), .noHomeserver(reason: "x"), .tooOften(wait: .seconds(2)),
    ])
    func aProblemOfTheServerIsToldWhereItIsTyped(problem: SignInProblem) async {
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
        SignInProblem.wrongPassword, .wrongToken, .deactivated, .tooOften(wait: nil), .otherUser, .alreadyHere,
        .rejected(reason: "x"), .unreachable(reason: "x"),
    ])
    func aProblemOfTheNameIsToldWhereItIsTyped(problem: SignInProblem) async {
        let viewModel = await found()
        service.loggedIn = .failure(problem)
        logIn(viewModel)
        await eventually { viewModel.state.problem == problem }
        #expect(viewModel.state.step == .credentials(Self.server))
        viewModel.send(.back)
        #expect(viewModel.state.step == .server && viewModel.state.problem == nil)
    }

    @Test(arguments: [CredentialStoreError.locked, .unavailable(reason: "none")])
    func aKeyringThatDoesNotTakeItAsks(error: CredentialStoreError) async {
        let viewModel = await found()
        service.loggedIn = .success(Self.ann)
        service.secretFailure = [.keyring: error]
        logIn(viewModel)
        await eventually { viewModel.state.step == .credentialError(error) }
        #expect(!service.calls.contains("begin"))
        viewModel.send(.retryKeyring)
        #expect(viewModel.state.step == .keeping(error))
        await eventually { viewModel.state.step == .credentialError(error) }
        #expect(service.calls.count { $0 == "keep keyring" } == 2)
        service.secretFailure = [:]
        viewModel.send(.storeCredential(.file))
        await eventually { outputs.values.contains(.added(Self.ann.id)) }
        #expect(service.calls.suffix(2) == ["keep file", "begin"])
    }

    @Test func whatIsTypedAsAUserNamesTheUser() async {
        service.found = .success(Self.server)
        let viewModel = make()
        viewModel.send(.find(" @ann:example.org"))
        await eventually { viewModel.state.step == .credentials(Self.server) }
        #expect(viewModel.state.name == "@ann:example.org")
    }

    @Test func signingInAgainAsksForThePasswordAlone() async {
        service.found = .success(Self.server)
        service.loggedIn = .success(Self.ann)
        let viewModel = make(again: Self.ann)
        await eventually { viewModel.state.step == .credentials(Self.server) }
        #expect(viewModel.state.name == Self.ann.id && !viewModel.state.canGoBack)
        logIn(viewModel)
        await eventually { outputs.values.contains(.added(Self.ann.id)) }
        #expect(service.calls.contains("logIn again @ann:example.org"))
    }

    @Test func storageThatFailsEndsTheSession() async {
        let viewModel = await found()
        service.loggedIn = .success(Self.ann)
        service.beginFailure = .storage(reason: "x")
        logIn(viewModel)
        await eventually { viewModel.state.problem == .storage(reason: "x") }
        #expect(service.calls.suffix(2) == ["begin", "abandon"] && viewModel.state.step == .server)
    }

    // MARK: Canceling

    @Test func cancellingTheSearchGoesBackToTheServer() async {
        service.gate = Gate()
        service.found = .success(Self.server)
        let viewModel = make()
        viewModel.send(.find("example.org"))
        await eventually { service.gate?.waiting == 1 }
        viewModel.send(.cancel)
        #expect(viewModel.state.step == .server && outputs.values.isEmpty)
        service.gate?.open()
        await settle()
        #expect(viewModel.state.step == .server)
        viewModel.send(.cancel)
        #expect(outputs.values == [.cancelled])
    }

    @Test func aSessionThatComesAfterCancellingIsEnded() async {
        let viewModel = await found()
        service.gate = Gate()
        service.loggedIn = .success(Self.ann)
        logIn(viewModel)
        await eventually { service.gate?.waiting == 1 }
        viewModel.send(.cancel)
        #expect(viewModel.state.step == .credentials(Self.server))
        service.gate?.open()
        while !service.calls.contains("abandon") { await Task.yield() }
        #expect(!service.calls.contains("begin"))
    }

    @Test func cancellingAtTheKeyringEndsTheSession() async {
        let viewModel = await found()
        service.loggedIn = .success(Self.ann)
        service.secretFailure = [.keyring: .locked]
        logIn(viewModel)
        await eventually { viewModel.state.step == .credentialError(.locked) }
        viewModel.send(.cancel)
        #expect(outputs.values == [.cancelled])
        while !service.calls.contains("abandon") { await Task.yield() }
    }

    @Test func cancellingTheFirstSyncKeepsTheAccount() async {
        let viewModel = await found()
        service.loggedIn = .success(Self.ann)
        service.tell([AccountState(account: Self.ann, condition: .connecting)])
        logIn(viewModel)
        await eventually { outputs.values == [.added(Self.ann.id)] }
        viewModel.send(.cancel)
        #expect(outputs.values == [.added(Self.ann.id), .finished])
        await settle()
        #expect(!service.calls.contains("abandon"))
    }
}
