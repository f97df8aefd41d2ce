import ChatViewModels
import GtkKit

/// The popover with the list of accounts.
final class AccountMenu {
    /// Events in the popover, which closes with them.
    struct Outputs {
        var selected: (String) -> Void
        var addRequested: () -> Void
        /// Signing in to the account again was requested.
        var signInRequested: (AccountsCoordinator.Row) -> Void
        var signOutRequested: (AccountsCoordinator.Row) -> Void
    }

    let popover = Popover()
    private let list = ListBox()
    private let signIn = Button()
    private let signOut = Button()
    private let outputs: Outputs
    private var accounts = AccountList([])

    init(outputs: Outputs) {
        self.outputs = outputs
        build()
        list.onRowActivated { [weak self] in self?.choose($0) }
    }

    func show(_ accounts: AccountList) {
        if accounts.rows != self.accounts.rows { show(accounts.rows) }
        self.accounts = accounts
        signIn.isVisible = accounts.offersSignIn
        signOut.isVisible = accounts.offersSignOut
        signOut.isSensitive = accounts.canSignOut
    }

    /// Makes the rows anew, of which one keeps the keyboard focus: each message that arrives changes a count.
    private func show(_ rows: [AccountsCoordinator.Row]) {
        let focused = focusedAccount
        list.removeAll()
        for row in rows {
            list.append(AccountRow.make(row) { [weak self] in self?.act { $0.signOutRequested(row) } })
        }
        guard let focused, let index = rows.firstIndex(where: { $0.id == focused }) else { return }
        list.children[index].grabFocus()
    }

    /// The account whose row, or a button in it, has the focus.
    private var focusedAccount: String? {
        guard let focus = list.root?.focus else { return nil }
        let index = list.children.firstIndex { $0.isSame(as: focus) || $0.isAncestor(of: focus) }
        return index.map { accounts.rows[$0].id }
    }

    private func choose(_ index: Int) {
        guard accounts.rows.indices.contains(index) else { return }
        act { $0.selected(accounts.rows[index].id) }
    }

    private func build() {
        let content = Box(.vertical, spacing: 6)
        content.setSizeRequest(width: 280)
        list.addStyle("account-list")
        list.setAccessibleLabel(translated("Accounts"))
        list.disableSelection()
        let scroller = ScrolledWindow(list)
        scroller.propagatesNaturalHeight = true
        scroller.setContentHeight(minimum: -1, maximum: 400)
        content.append(scroller)
        content.append(Separator(.horizontal))
        let add = Button()
        for (button, label) in [
            (signIn, translated("_Sign In Again…")), (signOut, translated("Sign _Out…")),
            (add, translated("_Add Account…")),
        ] {
            button.label = label
            button.usesUnderline = true
            button.addStyle("flat")
            if let inner = button.children.first { inner.halign = .start }
            content.append(button)
        }
        add.onClick { [weak self] in self?.act { $0.addRequested() } }
        signIn.onClick { [weak self] in self?.act { self?.accounts.selectedRow.map($0.signInRequested) } }
        signOut.onClick { [weak self] in self?.act { self?.accounts.selectedRow.map($0.signOutRequested) } }
        popover.setChild(content)
    }

    private func act(_ action: (Outputs) -> Void) {
        popover.popDown()
        action(outputs)
    }
}
