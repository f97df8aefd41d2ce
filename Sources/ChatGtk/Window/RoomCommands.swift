import ChatCore
import ChatViewModels
import GtkKit

/// Performs the commands that concern one open room, in the main window as in the room's own.
struct RoomCommands {
    let account: DisplayedAccount
    /// The displayed room or invitation.
    let room: RoomID?
    let view: ConversationView?
    let presenter: RoomPresenter
    let transfers: TransferPresenter

    func perform(_ command: WindowCommand) {
        switch command {
        case .invite: if let room { presenter.showInvite(to: room, in: account) }
        case .roomDetails: if let room { presenter.showDetails(of: room, in: account) }
        case .leaveRoom: if let room { presenter.requestLeaving(room, in: account) }
        case .exportRoom: exportRoom()
        case .openWindow: if let room { account.coordinator.openWindow(of: room) }
        case .find: view?.openSearch()
        case .findOlder: view?.stepSearch(newer: false)
        case .findNewer: view?.stepSearch(newer: true)
        case .jumpToDate: view?.openCalendar()
        case .addFiles: view?.addFiles()
        case .retryUnsent: view?.retryFailed()
        case .discardUnsent: view?.confirmDiscardingAll()
        default: break
        }
    }

    private func exportRoom() {
        guard let row = account.coordinator.rooms.state.rows.first(where: { $0.id == room }) else { return }
        transfers.chooseExport(of: row.id, named: row.name, in: account.coordinator)
    }
}
