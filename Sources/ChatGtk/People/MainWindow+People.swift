import ChatCore
import ChatViewModels
import GtkKit

/// Room and user dialogs.
extension MainWindow {
    func showNewRoom() {
        let account = accounts.selectedRow.account.map { MemberID($0.id) }
        if let viewModel = coordinator.newRoom(by: account) {
            let onCreated = viewModel.onCreated
            viewModel.onCreated = { [weak self] room in
                onCreated?(room)
                self?.panes.visiblePane = .content
            }
            NewSharedRoomDialog.present(viewModel, over: window, avatarLoader: avatars)
            return
        }
        NewRoomDialog.present(over: window) { [weak self] name in
            self?.coordinator.rooms.send(.create(name: name))
            self?.panes.visiblePane = .content
        }
    }

    func showNewChat() {
        guard let viewModel = coordinator.userSearch() else { return }
        NewChatDialog.present(viewModel, over: window, avatarLoader: avatars) { [weak self] user in
            self?.coordinator.open(user.id.rawValue)
            self?.panes.visiblePane = .content
        }
    }

    func showInvite(to room: RoomID) {
        guard let viewModel = coordinator.inviting(to: room) else { return }
        InviteDialog.present(viewModel, over: window, avatarLoader: avatars)
    }

    func showDetails(of room: RoomID) {
        guard let viewModel = coordinator.details(of: room) else { return }
        RoomDetailsDialog.present(
            viewModel, over: window, avatarLoader: avatars, fail: { [weak self] in self?.show(.failed($0)) },
            leave: { [weak self] in self?.confirmLeaving(room) })
    }
}
