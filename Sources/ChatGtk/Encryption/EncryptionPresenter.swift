import ChatCore
import ChatViewModels
import ComposerGtk
import GtkKit

/// Presents the encryption setup over the main window, or over the dialog or modal window in front of it.
final class EncryptionPresenter {
    private let accounts: AccountsCoordinator
    private weak var window: TopLevel?
    private var rendering: Rendering?

    init(_ accounts: AccountsCoordinator, over window: TopLevel) {
        self.accounts = accounts
        self.window = window
        rendering = Rendering({ accounts.offersSetUp }, { [weak self] in if $0 { self?.offerSetUp() } })
    }

    /// Opens the setup dialog of the displayed account.
    func setUp() {
        guard let window, let viewModel = accounts.conversations.encryption?.setUp() else { return }
        EncryptionSetUpDialog.present(viewModel, over: Dialog.front(of: window))
    }

    private func offerSetUp() {
        accounts.noteSetUpOffered()
        setUp()
    }
}
