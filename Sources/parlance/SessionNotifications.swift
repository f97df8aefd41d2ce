import ChatGtk
import ChatViewModels
import Foundation
import GtkKit

/// Shows notifications of the session's messages, and does what the user chooses in them.
final class SessionNotifications {
    private let application: Application
    private let shared: SharedEnvironment
    private let current: CurrentSession
    private let withWindow: @MainActor (@escaping @MainActor (MainWindow) -> Void) -> Void
    private let used: @MainActor () -> Void
    private lazy var notifier = RoomNotifier(ApplicationNotifier.desktop(application)) { [weak self] target, text in
        self?.send(text, answering: target)
    }
    private var coordinator: NotificationCoordinator?

    /// - Parameters:
    ///   - withWindow: does something in the main window, which is shown for it.
    ///   - used: called when the user opens a message, in whichever window.
    init(
        application: Application, shared: SharedEnvironment, current: CurrentSession,
        withWindow: @escaping @MainActor (@escaping @MainActor (MainWindow) -> Void) -> Void,
        used: @escaping @MainActor () -> Void
    ) {
        self.application = application
        self.shared = shared
        self.current = current
        self.withWindow = withWindow
        self.used = used
    }

    /// Whether the desktop shows no notification of the running session; `false` without one.
    var isEmpty: Bool { coordinator?.isEmpty == true }

    /// Adds the actions of notifications, also of those that an earlier process has shown.
    func addActions() {
        for action in RoomNotifier.AnswerAction.allCases {
            application.addTextAction(action.rawValue) { [weak self] in
                if let target = NotificationTarget($0) { self?.answer(action, target) }
            }
        }
    }

    /// - Parameter start: what is older does not notify.
    func follow(_ session: RunningSession, from start: Date) {
        ScreenLock.desktop.follow()
        coordinator = NotificationCoordinator(
            session.accounts, presenter: notifier, preferences: shared.preferences, translator: shared.translator,
            isLocked: { ScreenLock.desktop.isLocked }, start: start)
    }

    func noteClosing() { coordinator = nil }

    private func answer(_ action: RoomNotifier.AnswerAction, _ target: NotificationTarget) {
        switch action {
        case .open, .reply:
            used()
            let replies = action == .reply
            if let accounts = current.session?.accounts, accounts.hasWindow(of: target) {
                return accounts.show(target, replies: replies)
            }
            withWindow { $0.open(replies ? .reply(target) : .message(target)) }
        case .markRead: current.perform { session in Task { await session?.accounts.markRead(target) } }
        }
    }

    /// Sends a reply, which is on the disk meanwhile.
    private func send(_ text: String, answering target: NotificationTarget) {
        if let reply = shared.unsentReplies.accept(text, answering: target) { deliver(reply) }
    }

    /// A reply that comes while the store cannot be opened waits until it is repaired.
    private func deliver(_ reply: UnsentReplies.Reply) {
        guard let session = current.session else { return current.wait { [weak self] _ in self?.deliver(reply) } }
        Task { await session.accounts.deliver(reply) }
    }
}
