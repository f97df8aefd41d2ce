import ChatCore
import ChatViewModels
import GtkKit

/// Dialogs about rooms and the people in them.
extension MainWindow {
    func showNewRoom() {
        let account = accounts.shown.account.map { MemberID($0.id) }
        if let viewModel = coordinator.newRoom(by: account) {
            let told = viewModel.onCreated
            viewModel.onCreated = { [weak self] room in
                told?(room)
                self?.panes.visiblePane = .content
            }
            NewSharedRoomDialog.present(viewModel, over: window, pictures: avatars)
            return
        }
        NewRoomDialog.present(over: window) { [weak self] name in
            self?.coordinator.rooms.send(.create(name: name))
            self?.panes.visiblePane = .content
        }
    }

    func showNewChat() {
        guard let viewModel = coordinator.peopleSearch() else { return }
        NewChatDialog.present(viewModel, over: window, pictures: avatars) { [weak self] person in
            self?.coordinator.open(person.id.rawValue)
            self?.panes.visiblePane = .content
        }
    }

    func showInvite(to room: RoomID) {
        guard let viewModel = coordinator.inviting(to: room) else { return }
        InviteDialog.present(viewModel, over: window, pictures: avatars)
    }

    func showDetails(of room: RoomID) {
        guard let viewModel = coordinator.details(of: room) else { return }
        RoomDetailsDialog.present(
            viewModel, over: window, pictures: avatars, fail: { [weak self] in self?.show(.failed($0)) },
            leave: { [weak self] in self?.confirmLeaving(room) })
    }
}
