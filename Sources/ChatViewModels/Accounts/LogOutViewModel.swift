public import ChatCore
public import Observation

/// Signs out an account: says what is lost, and asks again if the server can't be told.
@Observable
public final class LogOutViewModel: ViewModel {
    public nonisolated enum Step: Equatable, Sendable {
        /// Counts what was not sent yet.
        case counting
        /// Asks for confirmation; `nil` if nothing could be counted.
        case confirming(PendingCount?)
        case loggingOut
        /// The server did not end the session: asks whether to remove the account nevertheless.
        case failed(SignInProblem)
        /// The account is signed out, or stays.
        case over
    }

    public nonisolated struct State: Equatable, Sendable {
        public let account: String
        public internal(set) var step = Step.counting
    }

    public nonisolated enum Action: Equatable, Sendable {
        /// Answers the question of the current step.
        case confirm, cancel
    }

    public private(set) var state: State
    @ObservationIgnored private let service: any AccountService
    @ObservationIgnored private let flushDrafts: () async -> Void

    /// - Parameter flushDrafts: stores the account's drafts, so that they are counted.
    init(account: String, service: any AccountService, flushDrafts: @escaping () async -> Void) {
        state = State(account: account)
        self.service = service
        self.flushDrafts = flushDrafts
    }

    /// Counts what signing out would lose.
    public func start() {
        Task {
            await flushDrafts()
            // Without the numbers, the question is asked without them.
            state.step = .confirming(try? await service.pendingCount(of: state.account))
        }
    }

    public func send(_ action: Action) {
        switch (state.step, action) {
        case (.confirming, .confirm): logOut(isForced: false)
        case (.failed, .confirm): logOut(isForced: true)
        case (.confirming, .cancel), (.failed, .cancel): state.step = .over
        case (.counting, _), (.loggingOut, _), (.over, _): break
        }
    }

    /// Leaves the current step at once, so that a second confirmation changes nothing.
    private func logOut(isForced: Bool) {
        state.step = .loggingOut
        Task {
            do {
                try await service.logOut(state.account, isForced: isForced)
                state.step = .over
            } catch {
                state.step = .failed(error as? SignInProblem ?? .storage(reason: "\(type(of: error))"))
            }
        }
    }
}

extension LogOutViewModel.State {
    /// What is to be confirmed, with one line for each kind of thing that is lost.
    public nonisolated func losses(_ translator: Translator) -> String {
        var lines = [
            translator("The messages of this account will be deleted from this computer. They remain on the server.")
        ]
        guard case .confirming(let pending?) = step else { return lines[0] }
        if pending.messages > 0 {
            lines.append(
                translator.plural(
                    "%d unsent message will be lost.", "%d unsent messages will be lost.",
                    pending.messages
                ).replacing("%d", with: "\(pending.messages)"))
        }
        if pending.changes > 0 {
            lines.append(
                translator.plural(
                    "%d unsent change to a message will be lost.",
                    "%d unsent changes to messages will be lost.", pending.changes
                ).replacing("%d", with: "\(pending.changes)"))
        }
        if pending.drafts > 0 {
            lines.append(
                translator.plural("%d draft will be lost.", "%d drafts will be lost.", pending.drafts)
                    .replacing("%d", with: "\(pending.drafts)"))
        }
        return lines.joined(separator: "\n")
    }
}
