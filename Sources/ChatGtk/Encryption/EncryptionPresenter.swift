import ChatCore
import ChatViewModels
import ComposerGtk
import GtkKit

/// Presents the encryption dialogs over the main window, or over a dialog that is open in it.
final class EncryptionPresenter {
    private let accounts: AccountsCoordinator
    private weak var window: Widget?
    private var renderings: [Rendering] = []

    init(_ accounts: AccountsCoordinator, over window: Widget) {
        self.accounts = accounts
        self.window = window
        let queue = accounts.verifications
        renderings = [
            Rendering({ queue.current?.state.verification.id }, { [weak self] _ in self?.showVerification() }),
            Rendering({ accounts.offersSetUp }, { [weak self] in if $0 { self?.offerSetUp() } }),
        ]
    }

    /// Opens the setup dialog of the displayed account.
    func setUp() {
        guard let window, let viewModel = accounts.conversations.encryption?.setUp() else { return }
        EncryptionSetUpDialog.present(viewModel, over: Dialog.topmost ?? window)
    }

    private func offerSetUp() {
        accounts.noteSetUpOffered()
        setUp()
    }

    private func showVerification() {
        guard let window, let viewModel = accounts.verifications.current else { return }
        VerificationDialog.present(viewModel, over: Dialog.topmost ?? window)
    }
}

extension Dialog {
    /// The topmost dialog.
    static var topmost: Dialog? {
        let open = all
        return open.first { $0.window?.isActive == true } ?? open.last
    }
}
