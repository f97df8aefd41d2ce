import CGtk
import ChatCore
import ChatTestSupport
import ChatViewModels
import GtkTestSupport
import LocalBackend
import XCTest

@testable import ChatGtk
@testable import GtkKit

/// The page of the very first start, with real key events.
final class WelcomeTests: GtkTestCase {
    /// A service without accounts, whose sign-ins fail.
    private struct NoAccounts: SignInService, AccountService {
        func server(at address: String) async throws -> SignInServer { throw SignInProblem.notAnAddress }
        func signIn(to server: SignInServer, with credentials: SignInCredentials, again: String?) async throws
            -> Account
        { throw SignInProblem.wrongPassword }
        func storeCredential(of account: String, in place: CredentialLocation) async throws {}
        func activate(_ account: String) async throws {}
        func abandon(_ account: String) async {}
        func accountStates() -> AsyncStream<[AccountState]> {
            AsyncStream {
                $0.yield([])
                $0.finish()
            }
        }
        func retry(_ account: String) async {}
        func reconnect() async {}
        func mayRestart() async -> Bool { true }
        func pendingCount(of account: String) async throws -> PendingCount { PendingCount(messages: 0, drafts: 0) }
        func signOut(_ account: String, isForced: Bool) async throws {}
    }

    @MainActor
    private static let application: Application = {
        let application = Application(id: "io.github.parlance_chat.Parlance.WelcomeTests")
        g_application_set_flags(application.cast(), shim_application_non_unique)
        g_application_register(application.cast(), nil, nil)
        return application
    }()

    @MainActor
    private static func open(_ fixture: ChatFixture) throws -> (AccountsCoordinator, MainWindow) {
        let accounts = AccountsCoordinator(
            local: fixture.coordinator, service: NoAccounts(), welcome: WelcomeViewModel(service: fixture.backend))
        accounts.local.start(opening: nil)
        accounts.start(showing: AccountsCoordinator.localID)
        XCTAssertTrue(MainLoop.pump { accounts.showsWelcome })
        let window = MainWindow(application: application, accounts: accounts, settings: nil)
        window.present()
        XCTAssertTrue(MainLoop.pump { window.window.isMapped })
        try RealInput.activate(window.window)
        return (accounts, window)
    }

    func testReturnBeginsOnThisComputerInTheComposer() throws {
        try onMain {
            let fixture = try ChatFixture(createsFirstRooms: false)
            let (accounts, window) = try Self.open(fixture)
            XCTAssertNotNil(window.welcomeView)
            try RealInput.press("Return")
            XCTAssertTrue(
                MainLoop.pump {
                    window.welcomeView == nil && window.content.conversationView?.composerHasFocus == true
                })
            XCTAssertEqual(accounts.conversations.rooms.state.selectedRow?.name, "Welcome")
            XCTAssertEqual(accounts.conversations.rooms.state.rows.count, 2)
            try Self.close(window, fixture)
        }
    }

    func testTabAndReturnOpenSigningIn() throws {
        try onMain {
            let fixture = try ChatFixture(createsFirstRooms: false)
            let (accounts, window) = try Self.open(fixture)
            try RealInput.press("Tab", "Return")
            XCTAssertTrue(MainLoop.pump { OpenDialogs.active != nil }, "the dialog")
            XCTAssertTrue(accounts.showsWelcome, "nothing is decided before an account is added")
            try RealInput.press("Escape")
            XCTAssertTrue(MainLoop.pump { OpenDialogs.all.isEmpty })
            try Self.close(window, fixture)
        }
    }

    /// Without a room list, the actions that search it or step through it do nothing.
    func testKeysOfTheRoomListDoNothing() throws {
        try onMain {
            let fixture = try ChatFixture(createsFirstRooms: false)
            let (accounts, window) = try Self.open(fixture)
            window.window.activateAction("win.search")
            window.window.activateAction("win.switch-room")
            XCTAssertFalse(accounts.conversations.search.state.isOpen)
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { window.welcomeView == nil })
            window.window.activateAction("win.search")
            XCTAssertTrue(MainLoop.pump { accounts.conversations.search.state.isOpen })
            try Self.close(window, fixture)
        }
    }

    @MainActor
    private static func close(_ window: MainWindow, _ fixture: ChatFixture) throws {
        try window.finishClosing()
        try fixture.close()
    }
}
