public import ChatCore
public import Observation

/// A user's identity, and the actions on it.
@Observable
public final class IdentityViewModel: ViewModel {
    public nonisolated struct State: Equatable, Sendable {
        public let user: MemberID
        public let name: String
        public internal(set) var identity = UserIdentity.unknown
        /// Whether this device is confirmed. An unconfirmed device cannot vouch for other users.
        public internal(set) var isDeviceConfirmed = false
        /// Why encryption does not work on this device, so that no identity is known.
        public internal(set) var problem: EncryptionCondition.Problem?
        public internal(set) var isBusy = false
        public internal(set) var error: EncryptionError?

        /// Whether there is something to verify, if not at the moment; the same goes for the other actions.
        public var offersVerification: Bool {
            guard isDeviceConfirmed else { return false }
            return switch identity {
            case .unverified, .changed, .changedAfterVerification: true
            case .unknown, .none, .verified: false
            }
        }
        public var offersAcceptance: Bool { identity.newKey != nil }
        /// Not after a change: that would send to the new identity without the question of accepting it.
        public var offersWithdrawing: Bool { identity == .verified }

        public var canVerify: Bool { !isBusy && offersVerification }
        public var canAccept: Bool { !isBusy && offersAcceptance }
        public var canWithdraw: Bool { !isBusy && offersWithdrawing }
    }

    public nonisolated enum Action: Equatable, Sendable {
        case verify, withdraw
        /// Accepts the identity that the user was asked about, unless it has changed since the question.
        case accept(IdentityKey)
    }

    public private(set) var state: State
    @ObservationIgnored private let service: any EncryptionService
    @ObservationIgnored private var listening: Task<Void, Never>?
    @ObservationIgnored private var following: ChangeSubscription?

    init(_ user: MemberID, name: String, of encryption: EncryptionCoordinator) {
        state = State(user: user, name: name)
        service = encryption.service
        let stream = service.identities(of: user)
        listening = Task { [weak self] in
            for await identity in stream { self?.state.identity = identity }
        }
        following = ChangeSubscription(to: { [weak encryption] in encryption?.status }) { [weak self] in
            self?.apply($0)
        }
    }

    isolated deinit { listening?.cancel() }

    private func apply(_ status: EncryptionStatus?) {
        state.isDeviceConfirmed = status?.identity == .confirmed
        state.problem = status?.condition.problem
    }

    public func send(_ action: Action) {
        switch action {
        case .verify where state.canVerify: run { _ = try await $0.verify($1) }
        case .accept(let key) where state.canAccept:
            guard state.identity.newKey == key else {
                state.error = .otherIdentity
                return
            }
            run { try await $0.acceptIdentity(key, of: $1) }
        case .withdraw where state.canWithdraw: run { try await $0.withdrawVerification(of: $1) }
        case .verify, .accept, .withdraw: break
        }
    }

    private func run(_ work: @escaping @MainActor (any EncryptionService, MemberID) async throws -> Void) {
        state.isBusy = true
        state.error = nil
        Task {
            do { try await work(service, state.user) } catch { state.error = EncryptionError(error) }
            state.isBusy = false
        }
    }
}
