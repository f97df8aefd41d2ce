import CGtk
import ChatCore
import Foundation
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import ChatViewModels
@testable import ComposerGtk
@testable import GtkKit

/// Widgets that add and select accounts: their content, and that they are finalized.
final class AccountDialogTests: GtkTestCase {
    /// Discovers a server that supports password login; never signs in.
    private struct FakeSignIn: SignInService, AccountService {
        /// Whether discovery never completes.
        var isSilent = false
        func server(at address: String) async throws -> SignInServer {
            if isSilent { try await Task.sleep(for: .seconds(3600)) }
            guard let url = URL(string: "https://example.org") else { throw SignInProblem.notAnAddress }
            return SignInServer(url: url, supportsPassword: true, hasWebPage: false)
        }
        func signIn(to server: SignInServer, with credentials: SignInCredentials, again: String?) async throws
            -> Account
        {
            throw SignInProblem.wrongPassword
        }
        func storeCredential(of account: String, in place: CredentialLocation) async throws {}
        func activate(_ account: String) async throws {}
        func abandon(_ account: String) async {}
        func accountStates() -> AsyncStream<[AccountState]> { AsyncStream { $0.finish() } }
        func retry(_ account: String) async {}
        func reconnect() async {}
        func mayRestart() async -> Bool { true }
        func pendingCount(of account: String) async throws -> PendingCount { PendingCount(messages: 0, drafts: 0) }
        func signOut(_ account: String, isForced: Bool) async throws {}
    }

    @MainActor
    private static func row(
        _ name: String, _ condition: AccountCondition, unread: Int = 0, isShown: Bool = false
    ) -> AccountsCoordinator.Row {
        let account = Account(id: "@\(name):x", kind: "matrix", server: "https://x", device: "D", name: name)
        return AccountsCoordinator.Row(
            id: account.id, name: name, account: account, condition: condition, unreadCount: unread, isSelected: isShown
        )
    }

    /// Opens the dialog, advances to the password page, gets a login error and closes the dialog.
    func testSignInDialogShowsLoginErrors() throws {
        try onMain {
            try Resource.load()
            let parent = TestWindow(Label("behind"))
            do {
                let viewModel = SignInViewModel(service: FakeSignIn()) { _ in XCTFail("nobody is added") }
                let dialog = SignInDialog.present(viewModel, over: parent.window)
                let window = dialog.widget
                XCTAssertTrue(MainLoop.pump { window.isMapped })
                viewModel.send(.find("example.org"))
                XCTAssertTrue(
                    MainLoop.pump { if case .credentials = viewModel.state.step { true } else { false } })
                viewModel.send(.signIn(name: "ann", password: AccountCredential("wrong")))
                XCTAssertTrue(
                    MainLoop.pump { window.visibleTexts.contains { $0.contains("Incorrect username or password") } })
                window.close()
                XCTAssertTrue(MainLoop.pump { !window.isMapped })
            }
            parent.close()
        }
    }

    /// Discovery shows a Cancel button that returns to the typed address.
    func testServerDiscoveryCanBeCanceled() throws {
        try onMain {
            try Resource.load()
            let parent = TestWindow(Label("behind"))
            do {
                let viewModel = SignInViewModel(service: FakeSignIn(isSilent: true)) { _ in XCTFail("nobody is added") }
                let window = SignInDialog.present(viewModel, over: parent.window).widget
                XCTAssertTrue(MainLoop.pump { window.isMapped })
                XCTAssertNil(window.button("Cancel"))
                viewModel.send(.find("example.org"))
                XCTAssertTrue(MainLoop.pump { window.button("Cancel") != nil })
                try RealInput.activate(window)
                try RealInput.point(at: try XCTUnwrap(window.button("Cancel")))
                try RealInput.click()
                XCTAssertTrue(MainLoop.pump { viewModel.state.step == .server && window.button("Cancel") == nil })
                XCTAssertTrue(window.isMapped, "nothing that was typed is lost")
                window.close()
                XCTAssertTrue(MainLoop.pump { !window.isMapped })
            }
            parent.close()
        }
    }

    /// Long messages must not widen the sidebar.
    func testConnectionBarIsNoWiderThanTheSidebar() throws {
        try onMain {
            try Resource.load()
            let bar = ConnectionBar()
            let window = TestWindow(bar.widget, width: 300)
            let banners: [AccountsCoordinator.Banner] = [
                .connecting, .offline, .untrusted(.unknownIssuer), .untrusted(.notYetValid), .signedOut(isSoft: true),
                .signedOut(isSoft: false), .locked(.locked), .locked(.unavailable(reason: "")),
            ]
            for banner in banners {
                bar.show(banner)
                var natural: Int32 = 0
                gtk_widget_measure(bar.widget.cast(), GTK_ORIENTATION_HORIZONTAL, -1, nil, &natural, nil, nil)
                XCTAssertLessThanOrEqual(natural, 300, "\(banner): \(bar.text)")
            }
            window.close()
        }
    }

    func testAccountSwitcherListsAccountsAndIsFreed() throws {
        try onMain {
            try Resource.load()
            var isGone = false
            var chosen: [String] = []
            do {
                var switcher: AccountSwitcher? = AccountSwitcher(
                    outputs: AccountMenu.Outputs(
                        selected: { chosen.append($0) }, addRequested: {}, signInRequested: { _ in },
                        signOutRequested: { _ in }))
                let widget = try XCTUnwrap(switcher).widget
                widget.onFinalize { isGone = true }
                switcher?.show(
                    AccountList([
                        Self.row("ann", .online, isShown: true), Self.row("bo", .untrusted(.expired), unread: 120),
                    ]))
                let window = TestWindow(widget)
                let badge = { widget.descendants.first { $0.hasStyle("account-badge") } }
                XCTAssertEqual(badge()?.isVisible, true, "another account has unread messages")
                gtk_menu_button_popup(widget.cast())
                XCTAssertTrue(MainLoop.pump { widget.visibleTexts.contains("bo") })
                XCTAssertTrue(widget.visibleTexts.contains("ann"), "\(widget.visibleTexts)")
                XCTAssertTrue(widget.visibleTexts.contains("99+"))
                XCTAssertTrue(widget.visibleTexts.contains("Server certificate not trusted"))
                let list = try XCTUnwrap(
                    widget.descendants.first { shim_is_a($0.pointer, gtk_list_box_get_type()) != 0 })
                let second = try XCTUnwrap(gtk_list_box_get_row_at_index(list.cast(), 1))
                gtk_widget_activate(UnsafeMutablePointer<GtkWidget>(OpaquePointer(second)))
                XCTAssertTrue(MainLoop.pump { chosen == ["@bo:x"] })
                gtk_menu_button_popdown(widget.cast())
                switcher?.show(AccountList([Self.row("ann", .online), Self.row("bo", .online, isShown: true)]))
                XCTAssertEqual(badge()?.isVisible, false)
                window.close()
                switcher = nil
            }
            XCTAssertTrue(MainLoop.pump { isGone }, "the button is finalised")
        }
    }

    /// Opens a list of accounts, and returns its button and the window.
    @MainActor
    private static func open(
        _ rows: [AccountsCoordinator.Row], signOutRequested: @escaping (AccountsCoordinator.Row) -> Void
    ) -> (AccountSwitcher, TestWindow) {
        let switcher = AccountSwitcher(
            outputs: AccountMenu.Outputs(
                selected: { XCTFail("\($0) is chosen") }, addRequested: {}, signInRequested: { _ in },
                signOutRequested: signOutRequested))
        switcher.show(AccountList(rows))
        let window = TestWindow(switcher.widget)
        gtk_menu_button_popup(switcher.widget.cast())
        XCTAssertTrue(MainLoop.pump { switcher.widget.visibleTexts.contains("ann") })
        return (switcher, window)
    }

    /// Closes both: an open popover would keep its grab.
    @MainActor
    private static func close(_ switcher: AccountSwitcher, _ window: TestWindow) {
        gtk_menu_button_popdown(switcher.widget.cast())
        XCTAssertTrue(MainLoop.pump { !switcher.widget.visibleTexts.contains("ann") })
        window.close()
    }

    func testRowKeepsTheFocusWhenACountChanges() throws {
        try onMain {
            try Resource.load()
            let (switcher, window) = Self.open(
                [Self.row("ann", .online, isShown: true), Self.row("bo", .online)],
                signOutRequested: { XCTFail("\($0.id) is signed out") })
            let list = try XCTUnwrap(
                switcher.widget.descendants.first { $0.isInstance(of: gtk_list_box_get_type()) })
            XCTAssertTrue(list.children[1].grabFocus())
            XCTAssertTrue(list.children[1].isFocus)
            switcher.show(
                AccountList([Self.row("ann", .online, isShown: true), Self.row("bo", .online, unread: 3)]))
            XCTAssertTrue(MainLoop.pump { list.children[1].visibleTexts.contains("3") })
            XCTAssertTrue(list.children[1].isFocus)
            Self.close(switcher, window)
        }
    }

    /// It cannot be displayed, so its row has the button.
    func testAccountThatCannotBeOpenedIsSignedOutFromItsRow() throws {
        try onMain {
            try Resource.load()
            var signedOut: [String] = []
            let (switcher, window) = Self.open(
                [Self.row("ann", .online, isShown: true), Self.row("bo", .broken(reason: "x"))],
                signOutRequested: { signedOut.append($0.id) })
            let buttons = switcher.widget.descendants.filter { $0.tooltip?.hasPrefix("Sign Out of") == true }
            XCTAssertEqual(buttons.map(\.tooltip), ["Sign Out of bo"])
            let button = try XCTUnwrap(buttons.first)
            XCTAssertTrue(button.isMapped && button.isFocusable)
            let icon = gtk_button_get_icon_name(button.cast()).map { String(cString: $0) }
            XCTAssertEqual(icon, "system-log-out-symbolic", "nothing of the account is deleted on its server")
            let theme = gtk_icon_theme_get_for_display(gdk_display_get_default())
            XCTAssertNotEqual(gtk_icon_theme_has_icon(theme, icon), 0)
            button.activate()
            XCTAssertTrue(MainLoop.pump { signedOut == ["@bo:x"] })
            Self.close(switcher, window)
        }
    }

    func testAccountBeingSignedOutSaysSoAndCannotBeSignedOutAgain() throws {
        try onMain {
            try Resource.load()
            var ann = Self.row("ann", .online, isShown: true)
            ann.isSigningOut = true
            let (switcher, window) = Self.open(
                [ann, Self.row("bo", .online)], signOutRequested: { _ in XCTFail("signed out again") })
            XCTAssertTrue(MainLoop.pump { switcher.widget.visibleTexts.contains("Signing out…") })
            XCTAssertEqual(switcher.widget.button("Sign Out…")?.isSensitive, false)
            ann.isSigningOut = false
            switcher.show(AccountList([ann, Self.row("bo", .online)]))
            XCTAssertTrue(MainLoop.pump { switcher.widget.visibleTexts.contains("@ann:x") })
            XCTAssertEqual(switcher.widget.button("Sign Out…")?.isSensitive, true)
            Self.close(switcher, window)
        }
    }

    func testConnectionBarShowsProblemsAndIsFreed() throws {
        try onMain {
            try Resource.load()
            var isGone = false
            do {
                var bar: ConnectionBar? = ConnectionBar()
                let widget = try XCTUnwrap(bar).widget
                widget.onFinalize { isGone = true }
                var acted: [AccountsCoordinator.Banner] = []
                bar?.onAction = { acted.append($0) }
                let window = TestWindow(widget, width: 360)
                let cases: [(AccountsCoordinator.Banner, String, String)] = [
                    (.offline, "Could not connect", "Retry"), (.untrusted(.expired), "has expired", "Retry"),
                    (.untrusted(.wrongName), "different server", "Retry"),
                    (.signedOut(isSoft: true), "Sign-in expired", "Sign In…"),
                    (.signedOut(isSoft: false), "Signed out", "Sign In Again…"),
                    (.locked(.locked), "Keyring locked", "Retry"),
                ]
                for (banner, text, action) in cases {
                    bar?.show(banner)
                    XCTAssertTrue(MainLoop.pump { widget.visibleTexts.contains { $0.contains(text) } }, text)
                    try XCTUnwrap(widget.button(action), action).activate()
                    XCTAssertTrue(MainLoop.pump { acted.last == banner }, text)
                }
                XCTAssertTrue(widget.descendants.contains { $0.hasStyle("problem") })
                bar?.show(.connecting)
                XCTAssertFalse(widget.descendants.contains { $0.hasStyle("problem") }, "it comes back by itself")
                bar?.show(nil)
                XCTAssertEqual(bar?.text, "")
                window.close()
                bar = nil
            }
            XCTAssertTrue(MainLoop.pump { isGone }, "the bar is finalised")
        }
    }
}
