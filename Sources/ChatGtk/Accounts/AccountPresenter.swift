import ChatViewModels
import GtkKit

/// Presents the dialogs that sign accounts in and out.
final class AccountPresenter {
    private let accounts: AccountsCoordinator
    private weak var window: Widget?

    init(_ accounts: AccountsCoordinator, over window: Widget) {
        self.accounts = accounts
        self.window = window
    }

    func addAccount() {
        guard let window, let viewModel = accounts.signIn() else { return }
        SignInDialog.present(viewModel, over: window)
    }

    func signInAgain(_ row: AccountsCoordinator.Row) {
        guard let window, let viewModel = accounts.signIn(again: row.account) else { return }
        SignInDialog.present(viewModel, over: window)
    }

    func signOut(_ row: AccountsCoordinator.Row) {
        guard let window, let viewModel = accounts.signOut(row.id) else { return }
        SignOutDialog.present(viewModel, over: window)
    }

    /// Performs the action of the banner's button.
    func act(on banner: AccountsCoordinator.Banner) {
        switch banner {
        case .signedOut: signInAgain(accounts.selectedRow)
        case .connecting, .offline, .untrusted, .locked: accounts.retry(accounts.selectedRow.id)
        }
    }
}
