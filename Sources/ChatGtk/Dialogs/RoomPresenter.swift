import ChatCore
import ChatViewModels
import GtkKit

/// Presents the dialogs about rooms and their members.
final class RoomPresenter {
    private weak var window: Widget?
    /// Called when a dialog leads to a room.
    private let onOpen: @MainActor () -> Void

    init(over window: Widget, onOpen: @escaping @MainActor () -> Void) {
        self.window = window
        self.onOpen = onOpen
    }

    /// - Parameter ownUserID: the user's Matrix ID, or `nil` for local conversations.
    func showNewRoom(in account: DisplayedAccount, ownUserID: MemberID?) {
        guard let window else { return }
        guard let viewModel = account.coordinator.dialogs.newRoom(by: ownUserID) else {
            return NewRoomDialog.present(over: window) { [onOpen, coordinator = account.coordinator] name in
                coordinator.rooms.send(.create(name: name))
                onOpen()
            }
        }
        NewSharedRoomDialog.present(viewModel, over: window, avatarLoader: account.avatars, onCreated: onOpen)
    }

    func showNewChat(in account: DisplayedAccount) {
        guard let window, let viewModel = account.coordinator.dialogs.userSearch() else { return }
        NewChatDialog.present(viewModel, over: window, avatarLoader: account.avatars) {
            [onOpen, coordinator = account.coordinator] user in
            coordinator.open(user.id.rawValue)
            onOpen()
        }
    }

    func showInvite(to room: RoomID, in account: DisplayedAccount) {
        guard let window, let viewModel = account.coordinator.dialogs.inviting(to: room) else { return }
        InviteDialog.present(viewModel, over: window, avatarLoader: account.avatars)
    }

    func showDetails(of room: RoomID, in account: DisplayedAccount) {
        guard let window, let viewModel = account.coordinator.dialogs.details(of: room) else { return }
        RoomDetailsDialog.present(viewModel, over: window, avatarLoader: account.avatars) {
            [coordinator = account.coordinator] in coordinator.requestLeaving(room)
        }
    }

    func confirmLeaving(_ room: RoomID, named name: String, in account: DisplayedAccount) {
        guard let window else { return }
        Confirmation.present(
            over: window, heading: translated("Leave “%s”?").replacing("%s", with: name),
            body: translated("Messages in this room will be deleted from this computer."), action: translated("_Leave")
        ) { [rooms = account.coordinator.rooms] in rooms.send(.leave(room)) }
    }

    /// Asks which room to forward messages of the open room to.
    func promptForDestination(forward messages: [MessageID], in account: DisplayedAccount) {
        guard let window else { return }
        let forwarder = account.coordinator.forwarder
        ForwardDialog.present(
            over: window, find: { forwarder.destinations(matching: $0) }, avatarLoader: account.avatars,
            choose: { forwarder.forward(messages, to: $0) })
    }

    func promptForAddress(_ open: @escaping @MainActor (String) -> Void) {
        guard let window else { return }
        AddressDialog.present(over: window, open)
    }

    func showShortcuts() {
        guard let window else { return }
        let builder = Builder(resource: Resource.ui("help-overlay"))
        let shortcuts: TopLevel = builder["help_overlay"]
        shortcuts.setTransient(for: window)
        shortcuts.present()
    }
}
