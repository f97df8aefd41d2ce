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
        self.accounts = accounts
        list.removeAll()
        for row in accounts.rows {
            list.append(AccountRow.make(row) { [weak self] in self?.act { $0.signOutRequested(row) } })
        }
        signIn.isVisible = accounts.offersSignIn
        signOut.isVisible = accounts.offersSignOut
        signOut.isSensitive = accounts.canSignOut
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
