public import ChatCore
public import Observation

/// Signs out an account: says what will be lost, and asks again if the server did not end the session.
@Observable
public final class SignOutViewModel: ViewModel {
    public nonisolated enum Step: Equatable, Sendable {
        /// Counts what was not sent yet.
        case counting
        /// Asks for confirmation; `nil` if counting failed.
        case confirming(PendingCount?)
        case signingOut
        /// The server did not end the session: asks whether to remove the account anyway.
        case failed(SignInProblem)
        /// The account is signed out, or the user canceled.
        case over
    }

    public nonisolated struct State: Equatable, Sendable {
        public let account: String
        public internal(set) var step = Step.counting

        /// Whether it waits for no answer of the user's.
        public var isBusy: Bool { step == .counting || step == .signingOut }
        /// Whether to show that the question is being prepared.
        public var showsSpinner: Bool { step == .counting }
    }

    public nonisolated enum Action: Equatable, Sendable {
        /// Answers the question of the current step.
        case confirm, cancel
    }

    public private(set) var state: State
    @ObservationIgnored private let service: any AccountService
    @ObservationIgnored private let flushDrafts: () async -> Void
    @ObservationIgnored private var hasStarted = false

    /// - Parameter flushDrafts: stores the account's drafts, so that they are counted.
    init(account: String, service: any AccountService, flushDrafts: @escaping () async -> Void) {
        state = State(account: account)
        self.service = service
        self.flushDrafts = flushDrafts
    }

    /// Counts what signing out would lose.
    /// - Returns: `false` if it was started before, so that another dialog asks the questions.
    @discardableResult
    public func start() -> Bool {
        guard !hasStarted else { return false }
        hasStarted = true
        Task {
            await flushDrafts()
            // If counting fails, the question says so.
            let counted = try? await service.pendingCount(of: state.account)
            // The user may have canceled meanwhile.
            if state.step == .counting { state.step = .confirming(counted) }
        }
        return true
    }

    public func send(_ action: Action) {
        switch (state.step, action) {
        case (.confirming, .confirm): signOut(isForced: false)
        case (.failed, .confirm): signOut(isForced: true)
        case (.counting, .cancel), (.confirming, .cancel), (.failed, .cancel): state.step = .over
        case (.counting, .confirm), (.signingOut, _), (.over, _): break
        }
    }

    /// Leaves the current step at once, so that a second confirmation changes nothing.
    private func signOut(isForced: Bool) {
        state.step = .signingOut
        Task {
            do {
                try await service.signOut(state.account, isForced: isForced)
                state.step = .over
            } catch {
                state.step = .failed(error as? SignInProblem ?? .storage(reason: "\(type(of: error))"))
            }
        }
    }
}

extension SignOutViewModel.State {
    /// The text to confirm, with one line for each kind of content that will be lost.
    public nonisolated func losses(_ translator: Translator) -> String {
        let deletion = translator(
            "The messages of this account will be deleted from this computer. They remain on the server.")
        guard case .confirming(let counted) = step else { return deletion }
        let counts =
            counted.map { countedLosses($0, translator) }
            ?? [translator("Drafts, unsent messages and keys could not be counted. Any that exist will be lost.")]
        return counts.isEmpty ? deletion : deletion + "\n\n" + counts.joined(separator: "\n")
    }

    private nonisolated func countedLosses(_ pending: PendingCount, _ translator: Translator) -> [String] {
        var lines = pending.unsentLosses(translator)
        if let keys = keyLoss(pending.keys, translator) { lines.append(keys) }
        if let recovery = recoveryLoss(pending.recovery, translator) { lines.append(recovery) }
        return lines
    }

    private nonisolated func keyLoss(_ keys: Int?, _ translator: Translator) -> String? {
        guard let keys else {
            return translator(
                "The keys that are not in a backup could not be counted. Without them, messages may no longer be readable."
            )
        }
        guard keys > 0 else { return nil }
        return translator.plural(
            "{count} key is not in a backup. Its messages can no longer be read, unless another device has the key.",
            "{count} keys are not in a backup. Their messages can no longer be read, unless another device has the keys.",
            keys)
    }

    /// Keys in a backup are lost, too, if nothing opens it.
    private nonisolated func recoveryLoss(_ recovery: EncryptionStatus.Recovery, _ translator: Translator) -> String? {
        switch recovery {
        case .ready: nil
        case .unsaved: translator("Your recovery key is not saved: encrypted messages can no longer be read.")
        case .none: translator("Your account has no recovery key: encrypted messages can no longer be read.")
        case .incomplete:
            translator("Your recovery key does not unlock everything: encrypted messages may no longer be readable.")
        case .unknown:
            translator(
                "Your recovery key could not be checked. If it is not saved, encrypted messages may no longer be readable."
            )
        }
    }
}

extension PendingCount {
    /// A line for each kind of what was not sent.
    nonisolated func unsentLosses(_ translator: Translator) -> [String] {
        var lines: [String] = []
        if messages > 0 {
            lines.append(
                translator.plural(
                    "{count} unsent message will be lost.", "{count} unsent messages will be lost.", messages))
        }
        if changes > 0 {
            lines.append(
                translator.plural(
                    "{count} unsent change to a message will be lost.",
                    "{count} unsent changes to messages will be lost.", changes))
        }
        if drafts > 0 {
            lines.append(translator.plural("{count} draft will be lost.", "{count} drafts will be lost.", drafts))
        }
        return lines
    }
}
