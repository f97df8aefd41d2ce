import CGtk
import ChatCore
import ChatViewModels
import GtkKit

/// The displayed account, and account actions.
extension MainWindow {
    func setUpAccounts(header: Widget, sidebar: Widget) {
        gtk_box_insert_child_after(sidebar.cast(), connectionBar.widget.cast(), header.cast())
        connectionBar.onAction = { [weak self] in self?.act(on: $0) }
        accountSwitcher.onSelect = { [weak self] in self?.choose($0) }
        accountSwitcher.onAdd = { [weak self] in self?.addAccount() }
        accountSwitcher.onSignIn = { [weak self] in self?.signInAgain($0) }
        accountSwitcher.onLogOut = { [weak self] in self?.confirmLogOut($0) }
        let accounts = accounts
        let title = Widget(borrowing: adw_header_bar_get_title_widget(header.cast()))
        accountRenderings = [
            Rendering({ accounts.selection }, { [weak self] _ in self?.show(accounts.conversations) }),
            Rendering({ accounts.banner }, { [weak self] in self?.connectionBar.show($0) }),
            Rendering(
                { accounts.rows },
                { [weak self, weak header] rows in
                    guard let self, let header else { return }
                    self.accountSwitcher.show(rows)
                    // A single account needs no switcher.
                    let titleWidget = rows.count > 1 ? self.accountSwitcher.widget : title
                    if adw_header_bar_get_title_widget(header.cast()) != titleWidget.cast() {
                        adw_header_bar_set_title_widget(header.cast(), titleWidget.cast())
                    }
                }),
        ]
    }

    func addAccountActions(to actions: ActionGroup) {
        actions.add("add-account", isEnabled: accounts.service != nil) { [weak self] in self?.addAccount() }
        joining = actions.add("join-room") { [weak self] in self?.promptForAddress() }
        // Without account support, links open in other applications.
        actions.add("open-address", isEnabled: accounts.service != nil, withString: { [weak self] in self?.open($0) })
    }

    // MARK: Addresses

    private func promptForAddress() {
        AddressDialog.present(over: window) { [weak self] in self?.open($0) }
    }

    /// Opens a room or user by Matrix ID, alias or link, in the displayed account or else in the first account that
    /// accepts addresses.
    public func open(_ address: String) {
        if !coordinator.acceptsAddresses, let other = accounts.firstAccountAcceptingAddresses { accounts.select(other) }
        guard accounts.conversations.acceptsAddresses else { return addAccount() }
        show(accounts.conversations)
        coordinator.open(address)
        panes.visiblePane = .content
    }

    func addAccount() {
        guard let viewModel = accounts.signIn() else { return }
        SignInDialog.present(viewModel, over: window) { [weak self] in self?.accounts.select($0) }
    }

    private func signInAgain(_ row: AccountsCoordinator.Row) {
        guard let account = row.account, let viewModel = accounts.signIn(again: account) else { return }
        SignInDialog.present(viewModel, over: window) { _ in }
    }

    private func choose(_ account: String) {
        guard let row = accounts.rows.first(where: { $0.id == account }) else { return }
        if row.isOpen { accounts.select(account) } else { accounts.retry(account) }
    }

    private func act(on banner: AccountsCoordinator.Banner) {
        switch banner {
        case .signedOut: signInAgain(accounts.selectedRow)
        case .connecting, .offline, .untrusted, .locked: accounts.retry(accounts.selectedRow.id)
        }
    }

    // MARK: Signing out

    private func confirmLogOut(_ row: AccountsCoordinator.Row) {
        Task { [weak self, accounts] in
            let pendingCount = await accounts.pendingCount(of: row.id)
            guard let self else { return }
            Confirmation.present(
                over: self.window, heading: translated("Log out of %s?").replacing("%s", with: row.id),
                body: LogOutText.body(pendingCount), action: translated("_Log Out")
            ) { [weak self] in self?.logOut(row, isForced: false) }
        }
    }

    private func logOut(_ row: AccountsCoordinator.Row, isForced: Bool) {
        Task { [weak self, accounts] in
            guard let problem = await accounts.logOut(row.id, isForced: isForced), let self else { return }
            Confirmation.present(
                over: self.window, heading: translated("The server could not be told"),
                body: SignInText.text(for: problem) + "\n\n"
                    + translated("Its session stays open there until you end it from another program."),
                action: translated("_Remove Anyway")
            ) { [weak self] in self?.logOut(row, isForced: true) }
        }
    }
}

/// The localized description of what signing out deletes.
enum LogOutText {
    static func body(_ pendingCount: PendingCount?) -> String {
        var lines = [
            translated("Its conversations are deleted from this computer. They stay on the server.")
        ]
        if let count = pendingCount?.messages, count > 0 {
            lines.append(
                translated(
                    "%d message that was not sent yet is lost.", "%d messages that were not sent yet are lost.",
                    count: count
                ).replacing("%d", with: "\(count)"))
        }
        if let count = pendingCount?.changes, count > 0 {
            lines.append(
                translated(
                    "%d change of a message that was not sent yet is lost.",
                    "%d changes of messages that were not sent yet are lost.", count: count
                ).replacing("%d", with: "\(count)"))
        }
        if let count = pendingCount?.drafts, count > 0 {
            lines.append(
                translated("%d draft is lost.", "%d drafts are lost.", count: count)
                    .replacing("%d", with: "\(count)"))
        }
        return lines.joined(separator: "\n")
    }
}
