import ChatCore
import ChatViewModels
import GtkKit

/// Presents what precedes an export or import, and its progress.
final class TransferPresenter {
    private let accounts: AccountsCoordinator
    private weak var window: Widget?

    init(_ accounts: AccountsCoordinator, over window: Widget) {
        self.accounts = accounts
        self.window = window
    }

    /// Asks how and where to export a room of an account.
    func chooseExport(of room: RoomID, named name: String, in account: ConversationCoordinator) {
        guard let window else { return }
        TransferChoice.export(of: name, over: window) { [weak self, weak account] format, folder in
            self?.start(.export(room, name: name, format, into: folder), in: account)
        }
    }

    /// Asks what to import.
    func chooseImport() {
        guard let window else { return }
        TransferChoice.source(over: window) { [weak self] in self?.start(.import($0)) }
    }

    /// - Parameter account: the account to export from; `nil` for the displayed one.
    @discardableResult
    func start(_ task: TransferViewModel.Task, in account: ConversationCoordinator? = nil) -> TransferDialog? {
        guard let window, let transfer = accounts.transfer(task, in: account) else { return nil }
        return TransferDialog.present(transfer, over: window)
    }
}
