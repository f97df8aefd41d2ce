import ChatCore
import ChatViewModels
import Foundation
import GtkKit

/// Export and import actions.
extension MainWindow {
    func chooseExport() {
        guard let row = coordinator.rooms.state.selectedRow else { return }
        TransferChoice.export(of: row.name, over: window) { [weak self] format, folder in
            self?.transfer(.export(row.id, name: row.name, format, into: folder))
        }
    }

    func chooseImport() {
        TransferChoice.source(over: window) { [weak self] in self?.transfer(.import($0)) }
    }

    @discardableResult
    func transfer(_ task: TransferViewModel.Task) -> TransferDialog? {
        let isImport = if case .import = task { true } else { false }
        let owner = isImport ? accounts.local : coordinator
        guard let transfer = owner.transfer(task) else { return nil }
        if isImport {
            transfer.onOutput = { [weak self, weak owner] output in
                guard case .show(let room) = output else { return }
                self?.accounts.select(AccountsCoordinator.localID)
                owner?.rooms.send(.select(room))
            }
        }
        return TransferDialog.present(transfer, over: window)
    }
}
