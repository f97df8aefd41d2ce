public import ChatCore
public import Observation

/// One verification: what the user is asked, compares, and learns of how it ended.
@Observable
public final class VerificationViewModel: ViewModel {
    public nonisolated struct State: Equatable, Sendable {
        public internal(set) var verification: Verification
        /// What the other person is called; not used for devices of the user.
        public internal(set) var name: String
        /// Whether numbers are compared in place of emoji.
        public internal(set) var showsNumbers = false
        /// Whether an answer of the user is on its way.
        public internal(set) var isBusy = false
        /// Why the last answer could not be given.
        public internal(set) var error: EncryptionError?
        /// Whether the user is done with it, so that the dialog closes.
        public internal(set) var isOver = false

        init(_ verification: Verification, name: String) {
            self.verification = verification
            self.name = name
        }
    }

    public nonisolated enum Action: Equatable, Sendable {
        case accept
        case confirmMatch, reportMismatch
        case showNumbers(Bool)
        /// Ends it: declines a request, cancels what is under way, or closes the dialog about how it ended.
        case close
    }

    public private(set) var state: State
    @ObservationIgnored private let service: any EncryptionService
    @ObservationIgnored private let onOver: @MainActor (VerificationViewModel) -> Void
    @ObservationIgnored private var naming: ChangeSubscription?

    /// - Parameters:
    ///   - name: what the other person is called.
    ///   - onOver: called once the user is done with it.
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
        case (.close, .done), (.close, .canceled): end(with: .dismiss)
        // What the user breaks off needs no notice of having been broken off.
        case (.close, _): end(with: .cancel, .dismiss)
        case (.accept, _), (.confirmMatch, _), (.reportMismatch, _): break
        }
    }

    /// A chat that was just joined has its members later than the request.
    func follow(name: @escaping @MainActor () -> String?) {
        naming = ChangeSubscription(to: name) { [weak self] in if let name = $0 { self?.state.name = name } }
    }

    func show(_ verification: Verification) {
        if verification.phase != state.verification.phase { state.isBusy = false }
        state.verification = verification
    }

    /// Closes without telling the other side: the service does not know the verification any more.
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
                // If the phase has changed meanwhile, the answer does not matter any more.
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
                // It is over for the user: the service lets what cannot be told to the other side time out there.
                try? await service.perform(action, in: id)
            }
            onOver(self)
        }
    }
}

extension EncryptionError {
    /// An error of a service as one that has a text.
    init(_ error: any Error) {
        self = error as? EncryptionError ?? .rejected(reason: "\(type(of: error))")
    }
}
