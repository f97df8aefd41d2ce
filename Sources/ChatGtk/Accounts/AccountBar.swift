import ChatViewModels
import GtkKit

/// The sidebar's account header: the menu button, the account's name as title, and the banners about its connection and
/// encryption below.
final class AccountBar {
    private let switcher: AccountSwitcher
    private let connectionBar = ConnectionBar()
    private let encryptionBar = EncryptionBar()
    private let slot: Box
    private let title: WindowTitle
    private var renderings: [Rendering] = []

    /// - Parameters:
    ///   - header: The sidebar's header.
    ///   - builder: The interface that contains the sidebar.
    init(
        _ accounts: AccountsCoordinator, presenter: AccountPresenter, encryption: EncryptionPresenter,
        header: HeaderBar,
        in builder: Builder
    ) {
        switcher = AccountSwitcher(
            outputs: AccountMenu.Outputs(
                selected: { accounts.choose($0) }, addRequested: { presenter.addAccount() },
                signInRequested: { presenter.signInAgain($0) }, signOutRequested: { presenter.signOut($0) }))
        slot = builder["account_slot"]
        title = builder["sidebar_title"]
        slot.append(switcher.widget)
        builder["sidebar", Box.self].insert(connectionBar.widget, after: header)
        builder["sidebar", Box.self].insert(encryptionBar.widget, after: connectionBar.widget)
        connectionBar.onAction = { presenter.act(on: $0) }
        encryptionBar.onAction = { [weak encryption] in encryption?.setUp() }
        renderings = [
            Rendering({ accounts.banner }, { [weak self] in self?.connectionBar.show($0) }),
            Rendering({ accounts.encryptionNeed }, { [weak self] in self?.encryptionBar.show($0) }),
            Rendering({ AccountList(accounts.rows) }, { [weak self] in self?.show($0) }),
        ]
    }

    private func show(_ accounts: AccountList) {
        switcher.show(accounts)
        slot.isVisible = accounts.hasChoice
        title.setTitle(AccountText(.desktop).sidebarTitle(of: accounts))
    }
}
