import CGtk
import ChatViewModels
import GtkKit

/// The account switcher in place of the header's title, and the bar about the connection below the header.
final class AccountBar {
    private let switcher = AccountSwitcher()
    private let connectionBar = ConnectionBar()
    private let header: Widget
    /// The header's own title, for a single account, which needs no switcher.
    private let title: Widget
    private var renderings: [Rendering] = []

    init(_ accounts: AccountsCoordinator, presenter: AccountPresenter, header: Widget, sidebar: Widget) {
        self.header = header
        title = Widget(borrowing: adw_header_bar_get_title_widget(header.cast()))
        gtk_box_insert_child_after(sidebar.cast(), connectionBar.widget.cast(), header.cast())
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
        if adw_header_bar_get_title_widget(header.cast()) != titleWidget.cast() {
            adw_header_bar_set_title_widget(header.cast(), titleWidget.cast())
        }
    }
}
