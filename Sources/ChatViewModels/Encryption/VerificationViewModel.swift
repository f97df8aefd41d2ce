public import ChatCore
public import Observation

/// A verification: the question to the user, the comparison, and the outcome.
@Observable
public final class VerificationViewModel: ViewModel {
    public nonisolated struct State: Equatable, Sendable {
        public internal(set) var verification: Verification
        /// The other user's display name; unused for the user's own devices.
        public internal(set) var name: String
        /// Whether numbers are shown instead of emoji.
        public internal(set) var showsNumbers = false
        /// Whether an answer is being sent.
        public internal(set) var isBusy = false
        /// Why the last answer could not be sent.
        public internal(set) var error: EncryptionError?
        /// Whether the user is finished, so that the dialog closes.
        public internal(set) var isOver = false
        /// Whether another account's verification is displayed first, so that the dialog closes without an answer.
        public internal(set) var isSetAside = false

        init(_ verification: Verification, name: String) {
            self.verification = verification
            self.name = name
        }
    }

    public nonisolated enum Action: Equatable, Sendable {
        case accept
        case confirmMatch, reportMismatch
        case showNumbers(Bool)
        /// Declines a request, cancels a running verification, or closes the outcome.
        case close
    }

    public private(set) var state: State
    @ObservationIgnored private let service: any EncryptionService
    @ObservationIgnored private let onOver: @MainActor (VerificationViewModel) -> Void
    @ObservationIgnored private var naming: ChangeSubscription?
    /// Whether one of the windows presents it. Set by the view.
    public var isPresented = false

    /// - Parameters:
    ///   - name: the other user's display name.
    ///   - onOver: called once the user is finished.
    init(
        _ verification: Verification, name: String, service: any EncryptionService,
        onOver: @escaping @MainActor (VerificationViewModel) -> Void = { _ in }
    ) {
        state = State(verification, name: name)
        self.service = service
        self.onOver = onOver
    }

    public func send(_ action: Action) {
        switch (action, state.verification.phase) {
        case (.accept, .requested): perform(.accept)
        case (.confirmMatch, .comparing): perform(.confirmMatch)
        case (.reportMismatch, .comparing): perform(.reportMismatch)
        case (.showNumbers(let shows), _): state.showsNumbers = shows
        // The service goes on listing it, as the server may reject its signature later.
        case (.close, .done): end()
        case (.close, .canceled): end(with: .dismiss)
        // After canceling it themselves, the user does not need to see the outcome.
        case (.close, _): end(with: .cancel, .dismiss)
        case (.accept, _), (.confirmMatch, _), (.reportMismatch, _): break
        }
    }

    /// Updates the name: the members of a chat that was just joined arrive after the request.
    func follow(name: @escaping @MainActor () -> String?) {
        naming = ChangeSubscription(to: name) { [weak self] in if let name = $0 { self?.state.name = name } }
    }

    func show(_ verification: Verification) {
        // The user has closed what was displayed. A later end is for another dialog.
        guard !state.isOver else { return }
        if verification.phase != state.verification.phase { state.isBusy = false }
        state.verification = verification
    }

    /// Closes the dialog without an answer until this is called with `false`.
    func setAside(_ isSetAside: Bool) {
        if isSetAside != state.isSetAside { state.isSetAside = isSetAside }
    }

    /// Closes without an answer: the service no longer knows the verification.
    func vanish() {
        guard !state.isOver else { return }
        state.isOver = true
        onOver(self)
    }

    private func perform(_ action: Verification.Action) {
        guard !state.isBusy else { return }
        state.isBusy = true
        state.error = nil
        Task { [service, id = state.verification.id, phase = state.verification.phase] in
            do {
                try await service.perform(action, in: id)
            } catch {
                // The error of an answer to an earlier phase is irrelevant.
                guard state.verification.phase == phase else { return }
                state.error = EncryptionError(error)
                state.isBusy = false
            }
        }
    }

    private func end(with actions: Verification.Action...) {
        guard !state.isOver else { return }
        state.isOver = true
        Task { [service, id = state.verification.id, onOver] in
            for action in actions {
                // On failure, the verification times out on the other side.
                try? await service.perform(action, in: id)
            }
            onOver(self)
        }
    }
}

extension EncryptionError {
    /// Wraps any error as one that has a text.
    init(_ error: any Error) {
        self = error as? EncryptionError ?? .rejected(reason: "\(type(of: error))")
    }
}
