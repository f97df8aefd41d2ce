import ChatCore
public import ChatViewModels
import Composer
import ComposerGtk
public import GtkKit

/// The main window: the room list on the left, the open conversation on the right.
public final class MainWindow {
    public let window: TopLevel
    /// Called when the user closes the window. Returns whether it may close now.
    public var mayClose: () -> Bool = { true }
    /// Called once when the window starts to close.
    public var onClosing: (() -> Void)?
    /// Called once after the window has closed, its drafts are stored and its rooms are closed.
    public var onClosed: (() -> Void)?
    /// Whether the window is closing; it is hidden from then on.
    public private(set) var isClosing = false

    private var hasAppeared = false
    private let accounts: AccountsCoordinator
    private var account: DisplayedAccount
    private let settings: Settings?
    private let builder = Builder(resource: Resource.ui("window"))
    let panes: SplitPane
    let transfers: TransferPresenter
    private let accountPresenter: AccountPresenter
    let encryption: EncryptionPresenter
    private let verifications: VerificationPresenter
    private let unsentReplies: UnsentReplyPresenter
    private(set) lazy var sidebar = makeSidebar()
    private(set) lazy var content = makeContent()
    private(set) lazy var toasts = ToastPresenter(overlay: builder["toasts"]) { [weak self] in
        self?.visibleConversation
    }
    private lazy var rooms = RoomPresenter(over: window) { [weak self] action in
        if let self { action(self) }
    }
    private lazy var navigation = PaneNavigation(
        between: sidebar, and: content, in: panes, showing: account, of: accounts)
    private lazy var actions = WindowActions(
        on: window, opensAddresses: accounts.supportsAccounts, perform: { [weak self] in self?.perform($0) },
        open: { [weak self] in self?.open($0) })
    private lazy var attention = WindowActivityMonitor(on: builder["content_stack"])
    private var seen: Rendering?
    private var selection: Rendering?
    private let pages: Stack
    /// The welcome page, shown instead of the panes.
    private(set) var welcomeView: WelcomeView?
    private var welcome: Rendering?
    /// The renderings of the displayed account.
    private var renderings: [Rendering] = []

    /// Creates a window for the rooms of a single account.
    public convenience init(application: Application, coordinator: ConversationCoordinator, settings: Settings?) {
        self.init(application: application, accounts: AccountsCoordinator(local: coordinator), settings: settings)
    }

    public init(application: Application, accounts: AccountsCoordinator, settings: Settings?) {
        self.accounts = accounts
        self.settings = settings
        accounts.attachWindow()
        account = DisplayedAccount(accounts.conversations)
        window = builder["window"]
        window.setClassRole()
        panes = SplitPane(builder, in: window)
        pages = builder["window_pages"]
        for (button, menu) in [("new_button", "new_menu"), ("primary_menu_button", "primary_menu")] {
            builder[button, MenuButton.self].setMenu(builder[menu, Object.self])
        }
        for page in ["no_rooms_page", "no_selection_page"] {
            builder[page, StatusPage.self].setIconWhenShown("parlance-chat-symbolic")
        }
        accountPresenter = AccountPresenter(accounts, over: window)
        encryption = EncryptionPresenter(accounts, over: window)
        verifications = VerificationPresenter(accounts, over: window)
        unsentReplies = UnsentReplyPresenter(accounts, over: window)
        transfers = TransferPresenter(accounts, over: window)
        window.setApplication(application)
        WindowSize(settings: settings).restore(window)
        window.intercept("close-request") { [weak self] _ in
            guard let self else { return false }
            self.requestClosing()
            return true
        }
        window.addTyping(in: { [weak self] in self?.visibleConversation })
        panes.onFold { [weak self] in self?.foldingChanged() }
        bindAccount()
        attention.onChange = { [weak accounts] in accounts?.attend($0) }
        seen = Rendering({ accounts.seenRooms }, { [weak self] in self?.sidebar.show($0) })
        selection = Rendering({ accounts.selection }, { [weak self] _ in self?.showSelectedAccount() })
        welcome = Rendering({ accounts.showsWelcome }, { [weak self] in self?.show(isWelcoming: $0) })
    }

    // MARK: Presenting and closing

    public func present() {
        hasAppeared = true
        // Makes the first frame current.
        update()
        window.present()
    }

    /// Renders pending state changes now.
    public func update() {
        guard !isClosing else { return }
        showSelectedAccount()
        showOpenItem()
        show(isWelcoming: accounts.showsWelcome)
    }

    private func requestClosing() { if mayClose() { close() } }

    /// Hides the window, saves its state and drafts, and destroys it. The accounts stay open for another window.
    public func close() {
        guard !isClosing else { return }
        isClosing = true
        verifications.stop()
        onClosing?()
        window.isVisible = false
        // GTK does not know whether a window that never appeared is maximized.
        if hasAppeared { WindowSize(settings: settings).store(window) }
        Task {
            await accounts.flushDrafts()
            // GTK 4.8 on X11 computes the size of a new window when idle, even if it is destroyed by then, and crashes.
            await MainLoop.idle()
            // Stop rendering: the closing rooms' views belong to this window.
            renderings = []
            selection = nil
            welcome = nil
            accounts.detachWindow()
            window.destroy()
            onClosed?()
            // Events that the X server sent meanwhile may have requested the size again.
            await MainLoop.idle()
            withExtendedLifetime(window) {}
        }
    }

    /// Opens what the command line or another application names.
    public func open(_ target: OpenTarget) {
        switch target {
        case .address(let address): open(address)
        case .room(let name): accounts.openRoom(named: name, opening: showingContent())
        case .message(let target): show(target)
        case .reply(let target): show(target, replies: true)
        }
    }

    private func show(_ target: NotificationTarget, replies: Bool = false) {
        accounts.show(target, replies: replies, opening: showingContent())
    }

    /// Starts a message to someone: in a direct chat if an account can search for people, else in a new room.
    public func startMessage() {
        accounts.selectAccountForDirectChats { [weak self] isSelected in
            guard let self, !isClosing else { return }
            showSelectedAccount()
            perform(isSelected ? .newChat : .newRoom)
        }
    }

    public func search() { perform(.search) }

    /// Opens a room or user by Matrix ID, alias or link, in an account that accepts addresses.
    public func open(_ address: String) {
        accounts.open(address, opening: showingContent()) { [weak self] in
            if let self, !isClosing { accountPresenter.addAccount() }
        }
        showSelectedAccount()
    }

    /// Opens a room or user by Matrix ID, alias or link, in the account of these conversations.
    func open(_ address: String, in coordinator: ConversationCoordinator) {
        let show = showingContent()
        coordinator.open(address) { [accounts] room in
            if let account = accounts.account(of: coordinator) { show(AccountRoom(account, room)) }
        }
    }

    /// Creates a room without a server, and opens it.
    func createRoom(named name: String, in coordinator: ConversationCoordinator) {
        coordinator.rooms.create(named: name) { [weak self] in self?.showContent(of: $0, in: coordinator) }
    }

    // MARK: The first start

    private func show(isWelcoming: Bool) {
        guard isWelcoming != (welcomeView != nil) else { return }
        if isWelcoming, let viewModel = accounts.welcome {
            let signIn: @MainActor () -> Void = { [weak self] in self?.accountPresenter.addAccount() }
            let view = WelcomeView(viewModel, signIn: accounts.supportsAccounts ? signIn : nil)
            welcomeView = view
            navigation.welcomeView = view
            pages.add(view.widget)
            pages.show(view.widget)
        } else if let view = welcomeView {
            welcomeView = nil
            navigation.welcomeView = nil
            pages.visibleChild = "rooms"
            pages.remove(view.widget)
        }
        actions.update(showsRooms: !isWelcoming)
        navigation.focusPane()
    }

    // MARK: The displayed account

    private func showSelectedAccount() {
        guard accounts.conversations !== account.coordinator else { return }
        account = DisplayedAccount(accounts.conversations)
        navigation.show(account)
        sidebar.show(account)
        bindAccount()
        showOpenItem()
    }

    private func bindAccount() {
        let coordinator = account.coordinator
        actions.update(for: coordinator, of: accounts)
        coordinator.requests.send(.windowAppeared)
        renderings = [
            Rendering({ coordinator.openItem }, { [weak self] _ in self?.showOpenItem() }),
            Rendering({ coordinator.rooms.state }, { [weak self] _ in self?.showRoomState() }),
            Rendering({ coordinator.rooms.state.isEmpty }, { [weak self] _ in self?.foldingChanged() }),
            Rendering({ coordinator.requests.state.pending }, { [weak self] in self?.handle($0) }),
            Rendering({ coordinator.search.state.isOpen }, { [weak self] in self?.actions.update(isSearching: $0) }),
        ]
        foldingChanged()
    }

    private func handle(_ pending: [WindowRequests.State.Entry]) {
        guard let last = pending.last else { return }
        let coordinator = account.coordinator
        coordinator.requests.send(.handled(through: last.id))
        for entry in pending {
            switch entry.request {
            case .show(.cleared(let room)):
                toasts.show(.cleared(room)) { [weak self, weak coordinator] in
                    coordinator?.undoClearing(room)
                    self?.content.conversationView?.focusComposer()
                }
            case .show(let toast): toasts.show(toast)
            case .confirmLeaving(let room, let name): rooms.confirmLeaving(room, named: name, in: account)
            case .confirmForwarding(let forwarding): rooms.confirm(forwarding, in: account)
            case .setUpEncryption: rooms.showEncryptionSetUp(in: account)
            case .showIdentity(let user): rooms.showIdentity(of: user, in: account)
            case .present: window.present()
            }
        }
    }

    private func showOpenItem() {
        let (accepted, hadFocus) = (content.acceptedRoom(in: account), content.hasFocus)
        guard content.show(account) else { return }
        if !content.isEmpty { showRoomState() }
        navigation.noteOpenItem(accepted: accepted, hadFocus: hadFocus)
        actions.update(hasOpenRoom: content.conversationView != nil)
    }

    private func showRoomState() {
        content.show(account.coordinator.rooms.state.selectedRow, isFolded: panes.isFolded)
    }

    // MARK: Panes

    private var visibleConversation: ConversationView? { navigation.isContentVisible ? content.conversationView : nil }

    /// Shows the room list if the panes are folded.
    public func showSidebar() { navigation.showSidebar() }

    /// Shows the open conversation if the panes are folded.
    public func showConversation() { navigation.showConversation() }

    /// Shows a room in place of the room list as soon as it is open.
    func showContent(of room: AccountRoom) {
        // A room with a window of its own is shown there.
        guard !isClosing, !accounts.hasWindow(of: room) else { return }
        showSelectedAccount()
        showOpenItem()
        navigation.showOnceOpen(room)
    }

    /// Shows a room of one of the accounts.
    func showContent(of room: RoomID, in coordinator: ConversationCoordinator) {
        if let account = accounts.account(of: coordinator) { showContent(of: AccountRoom(account, room)) }
    }

    /// Returns what shows a room that a request opens, unless the user has moved on meanwhile.
    private func showingContent() -> @MainActor (AccountRoom) -> Void {
        let isStaying = navigation.staying()
        return { [weak self] room in if isStaying() { self?.showContent(of: room) } }
    }

    private func foldingChanged() {
        sidebar.show(isFolded: panes.isFolded)
        showRoomState()
        // A window folds once it has its first width, after GTK has focused its first button.
        if panes.isFolded, panes.visiblePane == .sidebar { navigation.focusPane() }
    }

    private func makeSidebar() -> Sidebar {
        Sidebar(
            builder, showing: account, accounts: accounts, accountPresenter: accountPresenter, encryption: encryption,
            height: WindowSize(settings: settings).height,
            outputs: Sidebar.Outputs(
                roomActivated: { [weak self] in self?.showConversation() },
                detailsRequested: { [weak self] in self?.showDetails(of: $0) },
                leavingRequested: { [weak self] in self?.account.coordinator.requestLeaving($0) },
                windowRequested: { [weak self] in self?.account.coordinator.openWindow(of: $0) },
                resultChosen: { [weak self] in self?.navigation.showResult() },
                searchClosed: { [weak self] in self?.navigation.noteSearchClosed() }))
    }

    private func makeContent() -> ContentPane {
        ContentPane(
            builder["content_stack"], settings: settings,
            outputs: ContentPane.Outputs(
                forwardingRequested: { [weak self] messages, conversation in
                    guard let self else { return }
                    self.rooms.promptForDestination(forward: messages, of: conversation, in: self.account)
                },
                addressActivated: { [weak self] address in
                    guard let self else { return }
                    self.open(address, in: self.account.coordinator)
                }))
    }

    // MARK: Keys and commands

    func perform(_ command: WindowCommand) {
        let list = account.coordinator.rooms
        switch command {
        case .newRoom:
            rooms.showNewRoom(in: account, ownUserID: accounts.selectedRow.account.map { MemberID($0.id) })
        case .newChat: rooms.showNewChat(in: account)
        case .joinRoom: rooms.promptForAddress { [weak self] in self?.open($0) }
        case .addAccount: accountPresenter.addAccount()
        case .importConversations: transfers.chooseImport()
        case .search: navigation.search()
        case .toggleSearch: navigation.toggleSearch()
        case .switchRoom: switchRoom()
        case .nextRoom: list.send(.selectNeighbor(1))
        case .previousRoom: list.send(.selectNeighbor(-1))
        case .nextUnreadRoom: list.send(.selectUnreadNeighbor(1))
        case .previousUnreadRoom: list.send(.selectUnreadNeighbor(-1))
        case .nextRegion: navigation.focusNextRegion(1)
        case .previousRegion: navigation.focusNextRegion(-1)
        case .back: showSidebar()
        case .zoomIn: TextZoom.apply(.larger, settings)
        case .zoomOut: TextZoom.apply(.smaller, settings)
        case .zoomReset: TextZoom.apply(.normal, settings)
        case .showHelp:
            rooms.showShortcuts(sendKey: account.coordinator.environment.preferences.writing.sendKey)
        case .close: requestClosing()
        default:
            if command == .find { panes.visiblePane = .content }
            RoomCommands(
                account: account, room: list.state.selection, view: content.conversationView, presenter: rooms,
                transfers: transfers
            ).perform(command)
        }
    }

    /// Returns the preferences of each account.
    public func accountPreferences() -> [AccountPreferencesViewModel] { accounts.accountPreferences() }
    public func encryptionPreferences() -> [EncryptionPreferencesViewModel] { accounts.encryptionPreferences() }

    /// Presents the switcher, with an initial search text.
    public func switchRoom(searching text: String = "") {
        SwitcherDialog.present(accounts, searching: text, over: window) { [weak self] _ in self?.showChosenRoom() }
    }

    /// Shows the room that was chosen in a switcher.
    func showChosenRoom() {
        showSelectedAccount()
        showConversation()
    }

    private func showDetails(of room: RoomID) { rooms.showDetails(of: room, in: account) }
}
