import ChatCore
import ChatViewModels
import Composer
import ComposerGtk
import GtkKit

/// Presents the dialogs about rooms and their members.
final class RoomPresenter {
    private weak var window: Widget?
    /// Receives what a room's own window has to show or ask; `nil` in the main window.
    private let requests: WindowRequests?
    /// Runs an action in the main window, where the rooms open that the user creates in a dialog or searches for.
    private let withMainWindow: @MainActor (@escaping @MainActor (MainWindow) -> Void) -> Void
    /// The rooms that the user is being asked about, or will be: each is left once.
    private var asked: Set<AskedRoom> = []

    private nonisolated struct AskedRoom: Hashable {
        let account: ObjectIdentifier
        let room: RoomID
    }

    init(
        over window: Widget, requests: WindowRequests? = nil,
        withMainWindow: @escaping @MainActor (@escaping @MainActor (MainWindow) -> Void) -> Void = { _ in }
    ) {
        self.window = window
        self.requests = requests
        self.withMainWindow = withMainWindow
    }

    private func dialogs(of account: DisplayedAccount) -> RoomDialogs {
        account.coordinator.dialogs(reportingTo: requests ?? account.coordinator.requests)
    }

    /// - Parameter ownUserID: the user's Matrix ID, or `nil` for local conversations.
    func showNewRoom(in account: DisplayedAccount, ownUserID: MemberID?) {
        guard let window else { return }
        guard let viewModel = dialogs(of: account).newRoom(by: ownUserID) else {
            let viewModel = NewLocalRoomViewModel { [withMainWindow, coordinator = account.coordinator] name in
                withMainWindow { $0.createRoom(named: name, in: coordinator) }
            }
            return NewRoomDialog.present(viewModel, over: window)
        }
        NewSharedRoomDialog.present(viewModel, over: window, avatarLoader: account.avatars) {
            [withMainWindow, coordinator = account.coordinator] room in
            withMainWindow { $0.showContent(of: room, in: coordinator) }
        }
    }

    func showNewChat(in account: DisplayedAccount) {
        guard let window, let viewModel = dialogs(of: account).userSearch() else { return }
        NewChatDialog.present(viewModel, over: window, avatarLoader: account.avatars) {
            [withMainWindow, coordinator = account.coordinator] user in
            withMainWindow { $0.open(user.id.rawValue, in: coordinator) }
        }
    }

    func showInvite(to room: RoomID, in account: DisplayedAccount) {
        guard let window, let viewModel = dialogs(of: account).inviting(to: room) else { return }
        InviteDialog.present(viewModel, over: window, avatarLoader: account.avatars)
    }

    func showDetails(of room: RoomID, in account: DisplayedAccount) {
        guard let window, let viewModel = dialogs(of: account).details(of: room) else { return }
        RoomDetailsDialog.present(
            viewModel, over: window, avatarLoader: account.avatars, encryption: account.coordinator.encryption
        ) {
            [coordinator = account.coordinator, requests] in coordinator.requestLeaving(room, in: requests)
        }
    }

    func requestLeaving(_ room: RoomID, in account: DisplayedAccount) {
        account.coordinator.requestLeaving(room, in: requests)
    }

    func confirmLeaving(_ room: RoomID, named name: String, in account: DisplayedAccount) {
        let question = AskedRoom(account: ObjectIdentifier(account.coordinator), room: room)
        guard window != nil, asked.insert(question).inserted else { return }
        Task { [weak self, weak window, coordinator = account.coordinator] in
            let pending = await coordinator.pendingCount(in: room)
            guard let window else { return }
            Confirmation.present(
                .leaving(name, losing: pending, .gettext), over: window,
                cancelled: { [weak self] in self?.asked.remove(question) }
            ) { [weak self, rooms = coordinator.rooms] in
                self?.asked.remove(question)
                rooms.send(.leave(room))
            }
        }
    }

    func showEncryptionSetUp(in account: DisplayedAccount) {
        guard let window, let viewModel = account.coordinator.encryption?.setUp() else { return }
        EncryptionSetUpDialog.present(viewModel, over: window)
    }

    func showIdentity(of user: MemberID, in account: DisplayedAccount) {
        guard let window, let viewModel = account.coordinator.encryption?.identity(of: user) else { return }
        IdentityDialog.present(viewModel, over: window)
    }

    /// Asks which room to forward messages of an open room to.
    func promptForDestination(
        forward messages: [MessageID], of conversation: Conversation, in account: DisplayedAccount
    ) {
        guard let window else { return }
        let forwarder = account.coordinator.forwarder(of: conversation)
        ForwardDialog.present(
            over: window, find: { forwarder.destinations(matching: $0) },
            obstacle: { await forwarder.obstacle(in: $0) }, avatarLoader: account.avatars,
            choose: { forwarder.forward(messages, to: $0) })
    }

    func confirm(_ forwarding: UnencryptedForwarding, in account: DisplayedAccount) {
        guard let window else { return }
        Confirmation.present(forwarding.confirmation(.gettext), over: window) {
            [coordinator = account.coordinator, requests] in
            coordinator.forwarder(from: forwarding.source, reportingTo: requests ?? coordinator.requests)
                .forward(forwarding)
        }
    }

    func promptForAddress(_ open: @escaping @MainActor (String) -> Void) {
        guard let window else { return }
        AddressDialog.present(AddressViewModel(onOpen: open), over: window)
    }

    /// - Parameter sendKey: What the preferences say; the shortcuts to send and to break the line depend on it.
    func showShortcuts(sendKey: SendKey) {
        guard let window else { return }
        let builder = Builder(resource: Resource.ui("help-overlay"))
        let shortcuts: ShortcutsWindow = builder["help_overlay"]
        var configuration = ComposerConfiguration()
        configuration.sendKey = sendKey
        let keys = KeyTable.standard(for: configuration)
        for (row, action) in [("send", KeyAction.send), ("new_line", .insertNewline)] {
            shortcuts.setKeys(keys.chords(for: action).map(\.accelerator).joined(separator: " "), of: builder[row])
        }
        shortcuts.setTransient(for: window)
        shortcuts.present()
    }
}
