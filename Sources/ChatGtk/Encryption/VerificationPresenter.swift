import ChatCore
import ChatViewModels
import GtkKit

/// Presents verifications over one of the windows, or over a dialog that is open in it.
final class VerificationPresenter {
    private let accounts: AccountsCoordinator
    private weak var window: TopLevel?
    private let room: AccountRoom?
    private var rendering: Rendering?

    /// - Parameter room: the room of a window of its own; `nil` for the main window.
    init(_ accounts: AccountsCoordinator, over window: TopLevel, of room: AccountRoom? = nil) {
        self.accounts = accounts
        self.window = window
        self.room = room
        let queue = accounts.verifications
        rendering = Rendering({ queue.current?.state.verification.id }, { [weak self] _ in self?.show() })
    }

    private func show() {
        guard let window, let viewModel = accounts.verifications.current, accounts.verificationWindow == room,
            !viewModel.isPresented
        else { return }
        VerificationDialog.present(viewModel, over: Dialog.topmost(over: window) ?? window)
    }
}

extension Dialog {
    /// The topmost dialog over a window.
    static func topmost(over window: TopLevel) -> Dialog? {
        let open = all.filter { $0.isOver(window) }
        return open.first { $0.window?.isActive == true } ?? open.last
    }
}
