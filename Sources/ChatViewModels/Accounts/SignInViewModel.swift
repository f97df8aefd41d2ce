public import ChatCore
import Foundation
public import Observation

/// Brings an account into the window: which server, who, and where its secret is kept.
///
/// What is typed stays in the view: a password is in an action on its way, and in no state.
@Observable
public final class SignInViewModel: ViewModel {
    public nonisolated enum Step: Equatable, Sendable {
        /// Asks for the server.
        case server
        case finding
        /// Asks who the user is there.
        case credentials(SignInServer)
        case loggingIn(SignInServer)
        /// The keyring did not take the secret: asks what to do.
        case credentialError(CredentialStoreError)
        case keeping(CredentialStoreError?)
        /// Opens what is kept, and waits for the first answer of the server.
        case starting
        case done
    }

    public nonisolated struct State: Equatable, Sendable {
        public var step = Step.server
        /// Why the last attempt of this step came to nothing.
        public var problem: SignInProblem?
        /// Set where an account is to be signed in again: neither server nor name are asked for.
        public var again: Account?
        /// The name that what was typed as the server tells.
        public var name = ""

        public var isBusy: Bool {
            switch step {
            case .finding, .loggingIn, .keeping, .starting: true
            case .server, .credentials, .credentialError, .done: false
            }
        }
        /// Whether something is under way that is nobody's until it is done.
        public var canCancel: Bool {
            switch step {
            case .finding, .loggingIn, .keeping: true
            case .server, .credentials, .credentialError, .starting, .done: false
            }
        }
        public var canGoBack: Bool {
            if case .credentials = step { again == nil } else { false }
        }
    }

    public nonisolated enum Action: Sendable {
        /// The server's name or URL, or one's whole identifier.
        case find(String)
        case logIn(name: String, password: AccountCredential)
        case logInWithToken(AccountCredential)
        /// Asks the keyring once more.
        case retryKeyring
        case storeCredential(CredentialLocation)
        case back
        case cancel
    }

    public nonisolated enum Output: Equatable, Sendable {
        /// The account is in the list.
        case added(String)
        /// Nothing was changed, or nothing is left of it.
        case cancelled
        /// The server's first answer is there, or it does not come now.
        case finished
    }

    public private(set) var state = State()
    @ObservationIgnored public var onOutput: ((Output) -> Void)?

    @ObservationIgnored private let service: any SignInService & AccountService
    @ObservationIgnored private var work: Task<Void, Never>?
    /// Counts what was begun: what ends after it was cancelled is told nobody.
    @ObservationIgnored private var attempt = 0
    /// Logged in, and not begun.
    @ObservationIgnored private var pending: String?

    /// - Parameter again: an account that was signed out.
    public init(service: any SignInService & AccountService, again: Account? = nil) {
        self.service = service
        state.again = again
        state.name = again?.id ?? ""
    }

    /// Looks for the server of an account that is to be signed in again.
    public func start() {
        if let again = state.again { find(again.server) }
    }

    public func send(_ action: Action) {
        switch (action, state.step) {
        case (.find(let address), .server): find(address)
        case (.logIn(let name, let password), .credentials(let server)):
            logIn(.password(name: name.trimmingCharacters(in: .whitespacesAndNewlines), password), to: server)
        case (.logInWithToken(let token), .credentials(let server)): logIn(.accessToken(token), to: server)
        case (.retryKeyring, .credentialError(let error)): storeCredential(in: .keyring, after: error)
        case (.storeCredential(let location), .credentialError(let error)): storeCredential(in: location, after: error)
        case (.back, .credentials) where state.canGoBack:
            state.problem = nil
            state.step = .server
        case (.cancel, _): cancel()
        default: break
        }
    }

    // MARK: Steps

    private func find(_ address: String) {
        if state.again == nil { state.name = address.contains("@") ? address.trimmingCharacters(in: .whitespaces) : "" }
        perform(.finding) { [service] in
            .credentials(try await service.server(at: address))
        } else: {
            .server
        }
    }

    private func logIn(_ credentials: SignInCredentials, to server: SignInServer) {
        let again = state.again?.id
        perform(.loggingIn(server)) { [service] in
            let account = try await service.logIn(to: server, with: credentials, again: again)
            self.pending = account.id
            return .keeping(nil)
        } else: {
            .credentials(server)
        }
    }

    private func storeCredential(in location: CredentialLocation, after error: CredentialStoreError?) {
        guard let account = pending else { return }
        perform(.keeping(error)) { [service] in
            do {
                try await service.storeCredential(of: account, in: location)
                return .starting
            } catch let error as CredentialStoreError {
                return .credentialError(error)
            }
        } else: {
            .credentialError(error ?? .unavailable(reason: ""))
        }
    }

    private func open() {
        guard let account = pending else { return }
        perform(.starting) { [service] in
            do {
                try await service.activate(account)
            } catch {
                await service.abandon(account)
                self.pending = nil
                throw error
            }
            self.pending = nil
            self.onOutput?(.added(account))
            await Self.awaitConnection(of: account, from: service)
            return .done
        } else: {
            .server
        }
    }

    private static func awaitConnection(of account: String, from service: any AccountService) async {
        for await states in service.accountStates() {
            guard let state = states.first(where: { $0.id == account }) else { return }
            if state.condition != .connecting { return }
        }
    }

    /// What follows by itself once a step was reached.
    private func reached(_ step: Step) {
        state.step = step
        switch step {
        case .keeping: storeCredential(in: .keyring, after: nil)
        case .starting: open()
        case .done: onOutput?(.finished)
        default: break
        }
    }

    private func perform(
        _ step: Step, _ body: @escaping @MainActor () async throws -> Step,
        else failed: @escaping @MainActor () -> Step
    ) {
        attempt += 1
        let attempt = attempt
        state.problem = nil
        state.step = step
        work = Task {
            do {
                let next = try await body()
                guard attempt == self.attempt else { return await self.clear() }
                self.reached(next)
            } catch {
                guard attempt == self.attempt else { return await self.clear() }
                self.state.problem = error as? SignInProblem ?? .unreachable(reason: "\(type(of: error))")
                self.state.step = failed()
            }
        }
    }

    // MARK: Cancelling

    /// While the server is searched for or asked, back to what was typed; otherwise out.
    private func cancel() {
        attempt += 1
        work?.cancel()
        switch state.step {
        case .finding where state.again == nil:
            state.step = .server
            return
        case .loggingIn(let server):
            state.step = .credentials(server)
            return
        case .starting where pending == nil, .done:
            // It is there: what is still to come comes without this dialog.
            onOutput?(.finished)
        default:
            onOutput?(.cancelled)
        }
        Task { await clear() }
    }

    /// Ends a session that nobody wants any more.
    private func clear() async {
        guard let account = pending else { return }
        pending = nil
        await service.abandon(account)
    }
}
