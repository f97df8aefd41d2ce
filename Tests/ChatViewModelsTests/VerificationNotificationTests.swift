import ChatCore
import ChatTestSupport
import Testing

@testable import ChatViewModels

@MainActor @Suite(.timeLimit(.minutes(10)))
struct VerificationNotificationTests {
    private let encryption = FakeEncryptionService()
    private let desktop = FakeNotificationPresenter()
    private let preferences = UserPreferences()
    private let accounts: AccountsCoordinator
    private let coordinator: NotificationCoordinator

    init() {
        accounts = AccountsCoordinator(
            local: ConversationCoordinator(
                ConversationEnvironment(service: FakeChatService(), encryption: encryption)))
        coordinator = NotificationCoordinator(
            accounts, presenter: desktop, preferences: preferences, translator: .untranslated, isLocked: { false },
            start: Fixtures.date)
    }

    private func request(
        _ phase: Verification.Phase = .requested, id: String = "1", isOwn: Bool = false, isIncoming: Bool = true
    ) {
        encryption.set([
            Verification(
                id: id, user: MemberID("@bo:example.org"), isOwn: isOwn, isIncoming: isIncoming, phase: phase)
        ])
    }

    /// Waits until observers have processed what was published.
    private func seen() async {
        let expected = accounts.local.encryption
        for _ in 0..<200 { await Task.yield() }
        withExtendedLifetime(expected) {}
    }

    @Test("A request that is not visible notifies, with the account as its target, until it is answered.")
    func requestIsShown() async {
        request()
        await seen()
        let shown = desktop.shown.values.first
        #expect(shown?.kind == .verification && shown?.title == "@bo:example.org")
        #expect(shown?.body == "@bo:example.org wants to verify you." && shown?.isAnswerable == false)
        #expect(shown?.target == NotificationTarget(account: AccountsCoordinator.localID))
        #expect(shown.map { NotificationTarget($0.target.text) } == shown?.target && shown?.target.hasRoom == false)
        request(.preparing)
        await seen()
        #expect(desktop.shown.isEmpty)
    }

    @Test("Own requests, visible ones, and paused notifications do not notify.")
    func nothingIsShown() async {
        request(isIncoming: false)
        await seen()
        #expect(desktop.shown.isEmpty)
        accounts.attend(true)
        request(id: "2")
        await seen()
        #expect(desktop.shown.isEmpty)
        accounts.attend(false)
        preferences.notifications = NotificationPreferences(isPaused: true)
        request(id: "3")
        await seen()
        #expect(desktop.shown.isEmpty)
    }

    @Test("The preferences can omit all names.")
    func nothingIsNamed() async {
        preferences.notifications = NotificationPreferences(content: .nothing)
        request()
        await seen()
        #expect(desktop.shown.values.first?.title == "Parlance")
        #expect(desktop.shown.values.first?.body == "New verification request")
    }

    @Test("A notification for an account shows the account, and no room.")
    func targetWithoutRoom() async {
        accounts.show(NotificationTarget(account: AccountsCoordinator.localID))
        await waitUntilIdle()
        #expect(accounts.selection == AccountsCoordinator.localID && accounts.local.rooms.state.selection == nil)
    }
}
