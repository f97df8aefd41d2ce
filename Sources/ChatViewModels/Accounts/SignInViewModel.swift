public import ChatCore
import Foundation
public import Observation

/// Signs in an account: finds the server, logs in and stores the credential.
///
/// Input stays in the view: a password is passed in an action and never part of the state.
@Observable
public final class SignInViewModel: ViewModel {
    public nonisolated enum Step: Equatable, Sendable {
        /// Asks for the server.
        case server
        case finding
        /// Asks for the user's credentials.
        case credentials(SignInServer)
        case signingIn(SignInServer)
        /// The keyring did not store the credential; asks how to proceed.
        case credentialError(CredentialStoreError)
        case storing(CredentialStoreError?)
        /// Opens the account's store and waits for the first sync.
        case starting
        case done
    }

    public nonisolated struct State: Equatable, Sendable {
        public var step = Step.server {
            didSet { if case .credentials(let server) = step { self.server = server } }
        }
        /// The server found last. It remains displayed while the credential is stored.
        public private(set) var server: SignInServer?
        /// Why the last attempt at this step failed.
        public var problem: SignInProblem?
        /// An account being signed in again, for which neither the server nor the user name is asked for.
        public var again: Account?
        /// The user ID, if one was entered as the server.
        public var name = ""
        /// Whether the user signs in with an access token instead of name and password.
        public var usesToken = false
        /// Whether the dialog can close: the first sync has completed or failed, or nothing is left to cancel.
        public var isOver = false

        /// What the field for the server contains at first: the largest public homeserver, for who has none.
        public var suggestedServer: String { again == nil ? "matrix.org" : "" }

        public var isBusy: Bool {
            switch step {
            case .finding, .signingIn, .storing, .starting: true
            case .server, .credentials, .credentialError, .done: false
            }
        }
        /// Whether the operation in progress can be canceled with no lasting effect.
        public var canCancel: Bool {
            switch step {
            case .finding, .signingIn, .storing: true
            case .server, .credentials, .credentialError, .starting, .done: false
            }
        }
        /// - Parameter address: the text typed as the server.
        public func canFind(_ address: String) -> Bool { !isBusy && !address.allSatisfy(\.isWhitespace) }

        public func canSignIn(name: String, password: String, token: String) -> Bool {
            guard !isBusy else { return false }
            return usesToken ? !token.isEmpty : !name.allSatisfy(\.isWhitespace) && !password.isEmpty
        }

        /// Whether the user can choose between password and token.
        public var canChangeWay: Bool { server?.supportsPassword ?? true }

        public var canGoBack: Bool {
            if case .credentials = step { again == nil } else { false }
        }
    }

    public nonisolated enum Action: Sendable {
        /// A server name, a URL or a Matrix ID.
        case find(String)
        case signIn(name: String, password: AccountCredential)
        case signInWithToken(AccountCredential)
        /// Changes between password and access token.
        case changeWay
        /// Tries to store the credential in the keyring again.
        case retryKeyring
        case storeCredential(CredentialLocation)
        case back
        case cancel
    }

    public private(set) var state = State()
    @ObservationIgnored private let onAdded: (String) -> Void
    @ObservationIgnored private let service: any SignInService & AccountService
    @ObservationIgnored private var work: Task<Void, Never>?
    /// Incremented by each operation and on cancellation: results of earlier ones are discarded.
    @ObservationIgnored private var attempt = 0
    /// The ID of an account that has logged in but is not active yet.
    @ObservationIgnored private var pending: String?

    /// - Parameters:
    ///   - again: a signed-out account to sign in again.
    ///   - onAdded: receives the ID of the account once it is in the list.
    public init(
        service: any SignInService & AccountService, again: Account? = nil,
        onAdded: @escaping (String) -> Void = { _ in }
    ) {
        self.service = service
        self.onAdded = onAdded
        state.again = again
        state.name = again?.id ?? ""
    }

    /// Looks up the server of an account to be signed in again.
    public func start() {
        if let again = state.again { find(again.server) }
    }

    public func send(_ action: Action) {
        switch (action, state.step) {
        case (.find(let address), .server): find(address)
        case (.signIn(let name, let password), .credentials(let server)):
            signIn(.password(name: name.trimmingCharacters(in: .whitespacesAndNewlines), password), to: server)
        case (.signInWithToken(let token), .credentials(let server)): signIn(.accessToken(token), to: server)
        case (.changeWay, _): if state.canChangeWay { state.usesToken.toggle() }
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

    private func signIn(_ credentials: SignInCredentials, to server: SignInServer) {
        let again = state.again?.id
        perform(.signingIn(server)) { [service] in
            let account = try await service.signIn(to: server, with: credentials, again: again)
            guard !Task.isCancelled else {
                // The pending session, if any, is that of a later attempt.
                await service.abandon(account.id)
                throw CancellationError()
            }
            self.pending = account.id
            return .storing(nil)
        } else: {
            .credentials(server)
        }
    }

    private func storeCredential(in location: CredentialLocation, after error: CredentialStoreError?) {
        guard let account = pending else { return }
        perform(.storing(error)) { [service] in
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
        // It is being added from here on: canceling closes the dialog, but must not end its session.
        pending = nil
        perform(.starting) { [service] in
            do {
                try await service.activate(account)
            } catch {
                await service.abandon(account)
                throw error
            }
            self.onAdded(account)
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

    /// Enters a step and starts the work it implies.
    private func reached(_ step: Step) {
        state.step = step
        switch step {
        case .credentials(let server): if !server.supportsPassword { state.usesToken = true }
        case .storing: storeCredential(in: .keyring, after: nil)
        case .starting: open()
        case .done: state.isOver = true
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
                guard attempt == self.attempt else { return }
                self.reached(next)
            } catch {
                guard attempt == self.attempt else { return }
                self.state.problem = error as? SignInProblem ?? .unreachable(reason: "\(type(of: error))")
                self.state.step = failed()
            }
        }
    }

    // MARK: Canceling

    /// Returns to the input while a request is in flight, and closes the dialog otherwise.
    private func cancel() {
        attempt += 1
        work?.cancel()
        switch state.step {
        case .finding where state.again == nil:
            state.step = .server
            return
        case .signingIn(let server):
            state.step = .credentials(server)
            return
        case .server, .finding, .credentials, .credentialError, .storing, .starting, .done:
            // The first sync of an account that is active already continues without this dialog.
            state.isOver = true
        }
        Task { await clear() }
    }

    /// Abandons the session that has logged in and is not added yet.
    private func clear() async {
        guard let account = pending else { return }
        pending = nil
        await service.abandon(account)
    }
}
