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

    /// Asks how and where to export a room.
    func chooseExport(of room: RoomID, named name: String) {
        guard let window else { return }
        TransferChoice.export(of: name, over: window) { [weak self] format, folder in
            self?.start(.export(room, name: name, format, into: folder))
        }
    }

    /// Asks what to import.
    func chooseImport() {
        guard let window else { return }
        TransferChoice.source(over: window) { [weak self] in self?.start(.import($0)) }
    }

    @discardableResult
    func start(_ task: TransferViewModel.Task) -> TransferDialog? {
        guard let window, let transfer = accounts.transfer(task) else { return nil }
        return TransferDialog.present(transfer, over: window)
    }
}
