import ChatCore
import Testing

@testable import ChatViewModels

/// The account button and its list.
@Suite @MainActor struct AccountListTests {
    private func row(
        _ name: String, _ condition: AccountCondition = .online, unread: Int = 0, isSelected: Bool = false
    ) -> AccountsCoordinator.Row {
        let account = Account(id: "@\(name):x", kind: "matrix", server: "https://x", device: "D", name: name)
        return AccountsCoordinator.Row(
            id: account.id, name: name, account: account, condition: condition, unreadCount: unread,
            isSelected: isSelected)
    }

    private func localRow(isSelected: Bool) -> AccountsCoordinator.Row {
        AccountsCoordinator.Row(
            id: AccountsCoordinator.localID, name: "", account: nil, condition: .online, unreadCount: 0,
            isSelected: isSelected)
    }

    @Test("The button has a badge while an account that is not displayed has unread messages")
    func badge() {
        #expect(AccountList([row("ann", isSelected: true), row("bo", unread: 1)]).hasBadge)
        #expect(!AccountList([row("ann", unread: 1, isSelected: true), row("bo")]).hasBadge)
        #expect(row("bo", unread: 120).unreadLabel == "99+" && row("bo").unreadLabel == nil)
    }

    @Test("Signing out is offered for accounts, and signing in for those that need it")
    func offers() {
        let local = AccountList([localRow(isSelected: true), row("ann")])
        #expect(!local.offersSignOut && !local.offersSignIn)
        let online = AccountList([localRow(isSelected: false), row("ann", isSelected: true)])
        #expect(online.offersSignOut && !online.offersSignIn)
        #expect(AccountList([row("ann", .locked(.locked), isSelected: true)]).offersSignIn)
        // An account that cannot be opened is never displayed, and so has a button of its own.
        #expect(row("ann", .broken(reason: "x")).offersSignOut && !row("ann", .signedOut(isSoft: true)).offersSignOut)
        #expect(!localRow(isSelected: false).offersSignOut)
    }

    @Test("An account that is being signed out says so, and is not signed out again")
    func signingOut() {
        let texts = AccountText(Wording(translator: .untranslated, byteCount: { "\($0)" }, fullDate: { _ in "" }))
        var ann = row("ann", .offline, isSelected: true)
        #expect(texts.detail(of: ann) == "Offline" && AccountList([ann]).canSignOut)
        ann.isSigningOut = true
        #expect(texts.detail(of: ann) == "Signing out…" && texts.accessibleText(of: ann) == "ann, Signing out…")
        #expect(AccountList([ann]).offersSignOut && !AccountList([ann]).canSignOut)
        #expect(texts.signOutButton(of: ann) == "Sign Out of ann")
    }

    @Test("The title above the rooms is the account's name if there are several, or else the app's")
    func title() {
        let texts = AccountText(Wording(translator: .untranslated, byteCount: { "\($0)" }, fullDate: { _ in "" }))
        #expect(texts.sidebarTitle(of: AccountList([localRow(isSelected: true)])) == "Parlance")
        #expect(texts.sidebarTitle(of: AccountList([localRow(isSelected: true), row("ann")])) == "This Computer")
        #expect(
            texts.sidebarTitle(of: AccountList([localRow(isSelected: false), row("ann", isSelected: true)])) == "ann")
    }

    @Test("A lost connection is not a problem for the user to solve")
    func problems() {
        let passing: [AccountsCoordinator.Banner] = [.connecting, .offline]
        #expect(passing.map { $0.isProblem } == [false, false])
        let lasting: [AccountsCoordinator.Banner] = [.untrusted(.expired), .signedOut(isSoft: true), .locked(.locked)]
        #expect(lasting.map { $0.isProblem } == [true, true, true])
    }
}
