import ChatCore
import ChatTestSupport
import ComposerSessions
import Testing

@testable import ChatViewModels

/// What the suites about accounts have in common: two accounts, which a test publishes.
@MainActor
protocol AccountsSuite {
    var service: FakeAccountService { get }
    var clock: ManualClock { get }
    var local: ConversationCoordinator { get }
    /// The accounts whose conversations were made.
    var made: Recorder<String> { get }
}

extension AccountsSuite {
    static var ann: Account { account("ann") }
    static var bo: Account { account("bo") }

    private static func account(_ name: String) -> Account {
        Account(id: "@\(name):example.org", kind: "matrix", server: "https://example.org", device: "D", name: name)
    }

    func make(showing account: String = AccountsCoordinator.localID) -> AccountsCoordinator {
        let accounts = AccountsCoordinator(local: local, service: service, time: Timekeeper(clock)) { [made] id, _ in
            made.record(id)
            return ConversationCoordinator(service: FakeChatService())
        }
        accounts.start(showing: account)
        return accounts
    }

    func publish(_ ann: AccountCondition, _ bo: AccountCondition = .online) {
        service.publish([
            AccountState(account: Self.ann, condition: ann), AccountState(account: Self.bo, condition: bo),
        ])
    }

    static func started(_ service: FakeChatService) -> ConversationCoordinator {
        let coordinator = ConversationCoordinator(service: service)
        coordinator.start(opening: nil)
        return coordinator
    }

    /// Signs out, and confirms it.
    func signOut(of accounts: AccountsCoordinator) async {
        let viewModel = accounts.signOut(Self.ann.id)!
        viewModel.start()
        await eventually { if case .confirming = viewModel.state.step { true } else { false } }
        viewModel.send(.confirm)
        await eventually { viewModel.state.step == .over }
    }
}
