import ChatCore
import ChatViewModels
import GtkKit

/// The name of the displayed account as a button that opens the account list.
final class AccountSwitcher {
    let widget: MenuButton
    var onSelect: ((String) -> Void)?
    var onAdd: (() -> Void)?
    /// Called to sign in to the account again.
    var onSignIn: ((AccountsCoordinator.Row) -> Void)?
    var onLogOut: ((AccountsCoordinator.Row) -> Void)?

    private let title = Label()
    private let unreadIndicator = Label("●")
    private let popover = Popover()
    private let list = ListBox()
    private let signIn = Button()
    private let logOut = Button()
    private var rows: [AccountsCoordinator.Row] = []

    init() {
        widget = MenuButton()
        buildButton()
        buildPopover()
        list.onRowActivated { [weak self] in self?.choose($0) }
    }

    func show(_ rows: [AccountsCoordinator.Row]) {
        self.rows = rows
        let displayedRow = rows.first { $0.isSelected }
        title.text = displayedRow.map { AccountText(.desktop).name(of: $0) } ?? ""
        unreadIndicator.isVisible = rows.contains { !$0.isSelected && $0.unreadCount > 0 }
        widget.tooltip = translated("Accounts")
        widget.setAccessibleLabel(AccountText(.desktop).accessibleText(of: rows))
        list.removeAll()
        for row in rows { list.append(AccountRow.make(row)) }
        signIn.isVisible = displayedRow?.canSignInAgain == true
        logOut.isVisible = displayedRow?.isLocal == false
    }

    private func choose(_ index: Int) {
        guard rows.indices.contains(index) else { return }
        popover.popDown()
        onSelect?(rows[index].id)
    }

    // MARK: Building

    private func buildButton() {
        widget.addStyle("flat")
        let line = Box(.horizontal, spacing: 6)
        title.addStyle("heading")
        title.setEllipsize(.end)
        unreadIndicator.addStyle("account-mark")
        line.append(title)
        line.append(unreadIndicator)
        line.append(Image(icon: "pan-down-symbolic"))
        widget.setChild(line)
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
            (signIn, translated("_Sign In Again…")), (logOut, translated("Sign _Out…")),
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
        logOut.onClick { [weak self] in self?.act { self?.withDisplayedRow { self?.onLogOut?($0) } } }
        popover.setChild(content)
    }

    private func act(_ action: () -> Void) {
        popover.popDown()
        action()
    }

    private func withDisplayedRow(_ action: (AccountsCoordinator.Row) -> Void) {
        if let displayedRow = rows.first(where: { $0.isSelected }) { action(displayedRow) }
    }
}
