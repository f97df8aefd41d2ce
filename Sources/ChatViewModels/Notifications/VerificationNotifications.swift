import ChatCore

/// Notifies of an account's verification requests that the user does not see.
@MainActor
final class VerificationNotifications {
    private let account: String
    private let conversations: ConversationCoordinator
    private let surroundings: NotificationCoordinator.Surroundings
    private var subscription: ChangeSubscription?
    private var announced: Set<Verification.ID> = []
    private(set) var isShown = false

    /// Returns `nil` for the local account.
    init?(
        _ account: String, of conversations: ConversationCoordinator,
        in surroundings: NotificationCoordinator.Surroundings
    ) {
        guard let encryption = conversations.encryption else { return nil }
        self.account = account
        self.conversations = conversations
        self.surroundings = surroundings
        subscription = ChangeSubscription(to: { [weak encryption] in encryption?.verifications ?? [] }) { [weak self] in
            self?.receive($0, encryption)
        }
    }

    func withdraw() {
        guard isShown else { return }
        isShown = false
        surroundings.presenter.withdraw(id)
    }

    private func receive(_ verifications: [Verification], _ encryption: EncryptionCoordinator) {
        let requests = verifications.filter { $0.isIncoming && $0.phase == .requested }
        let new = requests.last { !announced.contains($0.id) }
        announced = Set(requests.map(\.id))
        if requests.isEmpty { withdraw() }
        // In an active window, the dialog is visible.
        guard let new, !surroundings.preferences.notifications.isPaused, surroundings.attended() == nil else { return }
        let content = NotificationPolicy.content(
            in: NotificationPolicy.Situation(
                preferences: surroundings.preferences.notifications, isLocked: surroundings.isLocked()))
        let texts = surroundings.text.verification(new, name: encryption.name(of: new.user), showing: content)
        isShown = true
        surroundings.presenter.show(
            RoomNotification(
                kind: .verification, target: NotificationTarget(account: account), title: texts.title,
                body: texts.body, isImportant: true, playsSound: surroundings.preferences.notifications.playsSound),
            as: id, media: conversations.media)
    }

    private var id: String { "verification \(account)" }
}
