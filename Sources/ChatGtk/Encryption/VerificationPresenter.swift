import ChatCore
import ChatViewModels
import GtkKit

/// Presents verifications over one of the windows, or over the dialog or modal window in front of it.
final class VerificationPresenter {
    private let accounts: AccountsCoordinator
    private weak var window: TopLevel?
    private let room: AccountRoom?
    private var rendering: Rendering?
    /// The open dialog, which retains itself.
    private weak var dialog: VerificationDialog?

    /// - Parameter room: the room of a window of its own; `nil` for the main window.
    init(_ accounts: AccountsCoordinator, over window: TopLevel, of room: AccountRoom? = nil) {
        self.accounts = accounts
        self.window = window
        self.room = room
        window.onActiveChange { [weak self] in self?.noteUse() }
        rendering = Rendering(
            { accounts.verificationToPresent(in: room)?.state.verification.id }, { [weak self] _ in self?.show() })
    }

    private func noteUse() {
        if window?.isActive == true { accounts.noteUse(true, ofWindowOf: room) }
    }

    private func show() {
        guard let window, let viewModel = accounts.verificationToPresent(in: room) else { return }
        dialog = VerificationDialog.present(viewModel, over: Dialog.front(of: window))
    }

    /// Presents nothing from now on, as the window closes. An open verification stays unanswered, for another window.
    func stop() {
        rendering = nil
        accounts.noteUse(false, ofWindowOf: room)
        dialog?.widget.forceClose()
    }
}

extension Dialog {
    /// What to present a dialog over that must not be behind others: the topmost dialog or modal window over a
    /// window, or that window.
    static func front(of window: TopLevel) -> Widget {
        let front = window.modalWindow() ?? window
        let open = all.filter { $0.isOver(front) }
        let dialog = open.first { $0.window?.isActive == true } ?? open.last
        return dialog ?? front
    }
}
