public import ChatCore
public import Foundation
import Observation

/// Sends notifications of all accounts while the user does not see the room, and withdraws them once it is read.
@MainActor
public final class NotificationCoordinator {
    /// What the notifications of all accounts depend on.
    struct Surroundings {
        let presenter: any RoomNotificationPresenter
        let preferences: UserPreferences
        let isLocked: @MainActor () -> Bool
        /// The room visible in the active window, if any.
        let attended: @MainActor () -> AccountsCoordinator.DisplayedRoom?
        let text: NotificationText
        /// When the program started. Earlier invitations do not notify.
        let start: Date
    }

    private let surroundings: Surroundings
    private var accounts: [String: AccountNotifications] = [:]
    private var verifications: [String: VerificationNotifications] = [:]
    private var opened: ChangeSubscription?

    /// - Parameters:
    ///   - isLocked: whether the screen is locked, as far as the desktop reports it.
    ///   - start: when the program started, or the time of a restart.
    public init(
        _ accounts: AccountsCoordinator, presenter: any RoomNotificationPresenter, preferences: UserPreferences,
        translator: Translator, isLocked: @escaping @MainActor () -> Bool, start: Date
    ) {
        surroundings = Surroundings(
            presenter: presenter, preferences: preferences, isLocked: isLocked,
            attended: { [weak accounts] in accounts?.attendedRoom },
            text: NotificationText(translator: translator), start: start)
        opened = ChangeSubscription(to: { [weak accounts] in accounts?.coordinatorIDs ?? [] }) {
            [weak self, weak accounts] ids in
            if let accounts { self?.follow(ids, of: accounts) }
        }
    }

    /// Whether none of the notifications that were sent waits for the user.
    public var isEmpty: Bool {
        accounts.values.allSatisfy { $0.shown.isEmpty } && verifications.values.allSatisfy { !$0.isShown }
    }

    private func follow(_ ids: [String], of coordinator: AccountsCoordinator) {
        for id in accounts.keys where !ids.contains(id) {
            accounts.removeValue(forKey: id)?.withdrawAll()
            verifications.removeValue(forKey: id)?.withdraw()
        }
        for id in ids where accounts[id] == nil {
            guard let conversations = coordinator.coordinator(of: id) else { continue }
            accounts[id] = AccountNotifications(id, of: conversations, in: surroundings)
            verifications[id] = VerificationNotifications(id, of: conversations, in: surroundings)
        }
    }
}
