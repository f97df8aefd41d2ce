import ChatCore
import ChatViewModels
import GtkKit

/// The avatar of the displayed account as a button that opens the account list.
final class AccountSwitcher {
    let widget = MenuButton()
    private let avatar = Avatar(size: 24)
    private let badge = Box(.horizontal)
    /// Made when it is first opened.
    private var menu: AccountMenu?
    private var accounts = AccountList([])

    init(outputs: AccountMenu.Outputs) {
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
        widget.setPopover { [weak self] in
            let menu = AccountMenu(outputs: outputs)
            if let self {
                menu.show(accounts)
                self.menu = menu
            }
            return menu.popover
        }
    }

    func show(_ accounts: AccountList) {
        self.accounts = accounts
        if let row = accounts.selectedRow { AccountRow.show(row, in: avatar) }
        badge.isVisible = accounts.hasBadge
        widget.setAccessibleLabel(AccountText(.desktop).accessibleText(of: accounts))
        menu?.show(accounts)
    }
}
