import ChatCore
import ChatViewModels
import GtkKit

/// The avatar of the displayed account as a button that opens the account list.
final class AccountSwitcher {
    let widget: MenuButton
    var onSelect: ((String) -> Void)?
    var onAdd: (() -> Void)?
    /// Called to sign in to the account again.
    var onSignIn: ((AccountsCoordinator.Row) -> Void)?
    var onSignOut: ((AccountsCoordinator.Row) -> Void)?

    private let avatar = Avatar(size: 24)
    private let badge = Box(.horizontal)
    private let popover = Popover()
    private let list = ListBox()
    private let signIn = Button()
    private let signOut = Button()
    private var accounts = AccountList([])

    init() {
        widget = MenuButton()
        buildButton()
        buildPopover()
        list.onRowActivated { [weak self] in self?.choose($0) }
    }

    func show(_ accounts: AccountList) {
        self.accounts = accounts
        if let row = accounts.selectedRow { AccountRow.show(row, in: avatar) }
        badge.isVisible = accounts.hasBadge
        widget.setAccessibleLabel(AccountText(.desktop).accessibleText(of: accounts))
        list.removeAll()
        for row in accounts.rows { list.append(AccountRow.make(row)) }
        signIn.isVisible = accounts.offersSignIn
        signOut.isVisible = accounts.offersSignOut
    }

    private func choose(_ index: Int) {
        guard accounts.rows.indices.contains(index) else { return }
        popover.popDown()
        onSelect?(accounts.rows[index].id)
    }

    // MARK: Building

    private func buildButton() {
        badge.addStyle("account-badge")
        badge.halign = .end
        badge.valign = .start
        badge.canTarget = false
        let overlay = Overlay()
        overlay.setChild(avatar)
        overlay.addOverlay(badge)
        widget.addStyle("flat")
        widget.addStyle("account-button")
        widget.tooltip = translated("Accounts")
        widget.setChild(overlay)
        widget.setPopover(popover)
    }

    private func buildPopover() {
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
        add.onClick { [weak self] in self?.act { self?.onAdd?() } }
        signIn.onClick { [weak self] in self?.act { self?.withDisplayedRow { self?.onSignIn?($0) } } }
        signOut.onClick { [weak self] in self?.act { self?.withDisplayedRow { self?.onSignOut?($0) } } }
        popover.setChild(content)
    }

    private func act(_ action: () -> Void) {
        popover.popDown()
        action()
    }

    private func withDisplayedRow(_ action: (AccountsCoordinator.Row) -> Void) {
        if let row = accounts.selectedRow { action(row) }
    }
}
