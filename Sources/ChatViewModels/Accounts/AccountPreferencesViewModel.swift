public import ChatCore
import Foundation
public import Observation

/// The preferences of one account, which apply to all of the user's devices.
@Observable
public final class AccountPreferencesViewModel: ViewModel {
    public nonisolated struct State: Equatable, Sendable {
        public let account: String
        public let name: String
        /// Words that notify like a mention; `nil` until known, or if the account does not support them.
        public var keywords: [String]?
        /// Why the last action failed.
        public var error: ChatError?
    }

    public nonisolated enum Action: Equatable, Sendable {
        case addKeyword(String)
        case removeKeyword(String)
    }

    public private(set) var state: State
    @ObservationIgnored private let service: any NotificationSettingsService
    @ObservationIgnored private var observing: Task<Void, Never>?

    init(account: String, name: String, service: any NotificationSettingsService) {
        state = State(account: account, name: name)
        self.service = service
        let stream = service.notificationSettings()
        observing = Task { [weak self] in
            for await settings in stream { self?.state.keywords = settings.keywords }
        }
    }

    isolated deinit { observing?.cancel() }

    public func send(_ action: Action) {
        state.error = nil
        Task { [service] in
            do {
                switch action {
                case .addKeyword(let word):
                    try await service.addKeyword(word.trimmingCharacters(in: .whitespacesAndNewlines))
                case .removeKeyword(let word): try await service.removeKeyword(word)
                }
            } catch {
                state.error = ChatError(error)
            }
        }
    }
}

extension AccountsCoordinator {
    /// Returns the preferences of each open account with a server.
    public func accountPreferences() -> [AccountPreferencesViewModel] {
        rows.compactMap { row in
            guard let account = row.account, let coordinator = coordinator(of: row.id) else { return nil }
            return AccountPreferencesViewModel(
                account: account.id, name: row.name, service: coordinator.environment.service)
        }
    }
}
