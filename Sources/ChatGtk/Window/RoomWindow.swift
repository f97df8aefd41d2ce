import ChatCore
import ChatViewModels
import GtkKit

/// A room in a window of its own.
final class RoomWindow {
    /// What the window requests and reports.
    struct Outputs {
        /// Called when the user closes the window. Returns whether it may close now.
        var mayClose: (RoomWindow) -> Bool
        /// Called once when the window starts to close: its size is final, and it stays hidden.
        var closing: (RoomWindow) -> Void
        /// Called once after the window has closed and its draft is stored.
        var closed: (RoomWindow) -> Void
        /// Runs an action in the main window that this window cannot perform.
        var withMainWindow: (@escaping @MainActor (MainWindow) -> Void) -> Void
    }

    let window: TopLevel
    let room: AccountRoom
    private(set) var isClosing = false
    let view: ConversationView

    private let accounts: AccountsCoordinator
    private let account: DisplayedAccount
    private let conversation: Conversation
    private let settings: Settings?
    private let outputs: Outputs
    private let openAddress: (String) -> Void
    private let presenter: RoomPresenter
    private let transfers: TransferPresenter
    private let toasts: ToastPresenter
    private let encryptionBar = EncryptionBar()
    private let attention: WindowActivityMonitor
    private var verifications: VerificationPresenter?
    private var actions: WindowActions?
    private var renderings: [Rendering] = []

    /// - Parameter size: `nil` if the room had no window before.
    init?(
        of room: AccountRoom, in application: Application, accounts: AccountsCoordinator, settings: Settings?,
        size: StoredRoomWindows.Size?, outputs: Outputs
    ) {
        guard let (coordinator, conversation) = accounts.window(of: room) else { return nil }
        self.room = room
        self.accounts = accounts
        self.conversation = conversation
        self.settings = settings
        self.outputs = outputs
        let account = DisplayedAccount(coordinator)
        self.account = account
        let builder = Builder(resource: Resource.ui("room-window"))
        window = builder["window"]
        window.setClassRole()
        let content: Box = builder["content"]
        let presenter = RoomPresenter(over: window, requests: conversation.requests) { action in
            accounts.select(room.account)
            outputs.withMainWindow(action)
        }
        self.presenter = presenter
        let openAddress: (String) -> Void = { address in
            // The main window opens addresses with the selected account.
            accounts.select(room.account)
            outputs.withMainWindow { $0.open(address) }
        }
        self.openAddress = openAddress
        transfers = TransferPresenter(accounts, over: window)
        let opened = OpenedView()
        let view = ConversationView.make(
            of: conversation, in: account, settings: settings, isInOwnWindow: true,
            outputs: ConversationView.Outputs(
                forwardingRequested: { messages in
                    presenter.promptForDestination(forward: messages, of: conversation, in: account)
                },
                addressActivated: openAddress))
        self.view = view
        opened.view = view
        toasts = ToastPresenter(overlay: builder["toasts"]) { opened.view }
        content.append(view.widget)
        attention = WindowActivityMonitor(on: content)
        window.setApplication(application)
        let size = size ?? StoredRoomWindows.Size(width: 600, height: 640)
        window.setDefaultSize(width: size.width, height: size.height)
        if size.isMaximized { window.maximize() }
        connect()
    }

    /// Holds the view for closures created before it.
    private final class OpenedView {
        weak var view: ConversationView?
    }

    private func connect() {
        window.intercept("close-request") { [weak self] _ in
            guard let self else { return false }
            self.requestClosing()
            return true
        }
        let actions = WindowActions(
            on: window, opensAddresses: accounts.supportsAccounts, perform: { [weak self] in self?.perform($0) },
            open: { [weak self] address in self?.openAddress(address) })
        actions.update(for: account.coordinator, of: accounts)
        actions.update(hasOpenRoom: true, isInMainWindow: false)
        self.actions = actions
        verifications = VerificationPresenter(accounts, over: window, of: room)
        attention.onChange = { [weak accounts, room] in accounts?.attend($0, inWindowOf: room) }
        window.addTyping(in: { [weak self] in self?.view })
        view.widget.insert(encryptionBar.widget, after: view.searchBar.widget)
        encryptionBar.onAction = { [weak conversation] in conversation?.setUpEncryption() }
        let (rooms, requests, id) = (account.coordinator.rooms, conversation.requests, room.room)
        requests.send(.windowAppeared)
        renderings = [
            Rendering({ rooms.state.rows.first { $0.id == id } }, { [weak self] in self?.show($0) }),
            Rendering({ requests.state.pending }, { [weak self] in self?.handle($0) }),
            Rendering(
                { [weak conversation] in conversation?.setUpNeed }, { [weak self] in self?.encryptionBar.show($0) }),
        ]
    }

    private func show(_ row: RoomListViewModel.Row?) {
        guard let row else { return }
        view.show(row, isFolded: false)
        if window.title != row.name { window.title = row.name }
    }

    private func handle(_ pending: [WindowRequests.State.Entry]) {
        // Messages to show after the window starts to close wait for the next view of the room.
        guard !isClosing, let last = pending.last else { return }
        conversation.requests.send(.handled(through: last.id))
        for entry in pending {
            switch entry.request {
            case .show(.cleared(let room)):
                toasts.show(.cleared(room)) { [weak self] in
                    self?.account.coordinator.undoClearing(room)
                    self?.view.focusComposer()
                }
            case .show(let toast): toasts.show(toast)
            case .confirmLeaving(let room, let name): presenter.confirmLeaving(room, named: name, in: account)
            case .confirmForwarding(let forwarding): presenter.confirm(forwarding, in: account)
            case .setUpEncryption: presenter.showEncryptionSetUp(in: account)
            case .showIdentity(let user): presenter.showIdentity(of: user, in: account)
            case .present: window.present()
            }
        }
    }

    func present() {
        window.present()
        view.focusComposer()
    }

    private func perform(_ command: WindowCommand) {
        switch command {
        case .nextRegion, .previousRegion:
            if view.composerHasFocus { view.focusTimeline() } else { view.focusComposer() }
        case .zoomIn: TextZoom.apply(.larger, settings)
        case .zoomOut: TextZoom.apply(.smaller, settings)
        case .zoomReset: TextZoom.apply(.normal, settings)
        case .showHelp:
            presenter.showShortcuts(sendKey: account.coordinator.environment.preferences.writing.sendKey)
        case .close: requestClosing()
        case .newRoom:
            let account = accounts.rows.first { $0.id == room.account }?.account
            presenter.showNewRoom(in: self.account, ownUserID: account.map { MemberID($0.id) })
        case .newChat: presenter.showNewChat(in: account)
        case .switchRoom: switchRoom()
        case .joinRoom, .addAccount, .importConversations, .search:
            outputs.withMainWindow { $0.perform(command) }
        default:
            RoomCommands(
                account: account, room: room.room, view: view, presenter: presenter, transfers: transfers
            ).perform(command)
        }
    }

    /// Presents the switcher over this window. Rooms without a window of their own open in the main window.
    private func switchRoom() {
        SwitcherDialog.present(accounts, over: window) { [accounts, outputs] chosen in
            if !accounts.hasWindow(of: chosen) { outputs.withMainWindow { $0.showChosenRoom() } }
        }
    }

    // MARK: Closing

    private func requestClosing() { if outputs.mayClose(self) { close() } }

    var size: StoredRoomWindows.Size {
        let size = window.defaultSize
        return StoredRoomWindows.Size(width: size.width, height: size.height, isMaximized: window.isMaximized)
    }

    /// Hides the window, stores its state, and destroys it. The room stays open for the main window.
    func close() {
        guard !isClosing else { return }
        isClosing = true
        accounts.noteClosingWindow(of: room)
        verifications?.stop()
        outputs.closing(self)
        window.isVisible = false
        Task {
            await conversation.flush()
            await destroy { accounts.closeWindow(of: room) }
        }
    }

    /// Destroys the window of a room that was left, or whose account was signed out.
    func dismiss() {
        guard !isClosing else { return }
        isClosing = true
        verifications?.stop()
        outputs.closing(self)
        window.isVisible = false
        Task { await destroy {} }
    }

    /// - Parameter destroyed: closes the room, whose composer can have only one view.
    private func destroy(_ destroyed: @MainActor () -> Void) async {
        // See MainWindow.close().
        await MainLoop.idle()
        renderings = []
        accounts.attend(false, inWindowOf: room)
        window.destroy()
        destroyed()
        outputs.closed(self)
        await MainLoop.idle()
        withExtendedLifetime(window) {}
    }
}
