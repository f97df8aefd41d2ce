import ChatViewModels
import GtkKit

/// The account switcher in place of the header's title, and the bar about the connection below the header.
final class AccountBar {
    private let switcher = AccountSwitcher()
    private let connectionBar = ConnectionBar()
    private let header: HeaderBar
    /// The header's own title, for a single account, which needs no switcher.
    private let title: Widget?
    private var renderings: [Rendering] = []

    init(_ accounts: AccountsCoordinator, presenter: AccountPresenter, header: HeaderBar, sidebar: Box) {
        self.header = header
        title = header.titleWidget
        sidebar.insert(connectionBar.widget, after: header)
        connectionBar.onAction = { presenter.act(on: $0) }
        switcher.onSelect = { accounts.choose($0) }
        switcher.onAdd = { presenter.addAccount() }
        switcher.onSignIn = { presenter.signInAgain($0) }
        switcher.onLogOut = { presenter.logOut($0) }
        renderings = [
            Rendering({ accounts.banner }, { [weak self] in self?.connectionBar.show($0) }),
            Rendering({ accounts.rows }, { [weak self] in self?.show($0) }),
        ]
    }

    private func show(_ rows: [AccountsCoordinator.Row]) {
        switcher.show(rows)
        let titleWidget = rows.count > 1 ? switcher.widget : title
        if let titleWidget, !titleWidget.isSame(as: header.titleWidget) { header.titleWidget = titleWidget }
    }
}
