import CGtk
public import ChatCore
public import ChatViewModels
import Composer
public import GtkKit

/// The main window: the room list on the left, the open conversation on the right.
public final class MainWindow {
    public let window: Widget
    /// Called once after the window has closed and its drafts have been saved.
    public var onClosed: (() -> Void)?
    /// Called with the displayed account and its open room, or `nil` if none is open: when set, and on each change.
    public var onDisplayedRoomChange: ((_ account: String, _ room: RoomID?) -> Void)? {
        didSet { reportDisplayedRoom() }
    }

    let accounts: AccountsCoordinator
    /// Of the displayed account.
    private(set) var coordinator: ConversationCoordinator
    private let settings: Settings?
    let panes: SplitPane
    let toasts: Widget
    /// The children of ``toasts``, as a list model.
    let overlaid: Object
    /// Of the displayed account.
    private(set) var avatars: AvatarLoader
    private let contentStack: Stack
    private let sidebarHeader: Widget
    private(set) var roomList: RoomListView?
    let rooms: Widget
    let searchPane: SearchPane
    private(set) var conversationView: ConversationView?
    private(set) var invitationView: InvitationView?
    /// The displayed conversation or invitation.
    private var displayedItem: AnyObject?
    private var renderings: [Rendering] = []
    private let actions = ActionGroup()
    private var roomActions: [Action] = []
    private var importing: Action?
    var joining: Action?
    private var writing: Action?
    private var inviting: Action?
    let accountSwitcher = AccountSwitcher()
    let connectionBar = ConnectionBar()
    var accountRenderings: [Rendering] = []
    /// Whether the window is closing; it is hidden from then on.
    public private(set) var isClosing = false

    /// Creates a window for the rooms of a single account.
    public convenience init(application: Application, coordinator: ConversationCoordinator, settings: Settings?) {
        self.init(application: application, accounts: AccountsCoordinator(local: coordinator), settings: settings)
    }

    public init(application: Application, accounts: AccountsCoordinator, settings: Settings?) {
        self.accounts = accounts
        coordinator = accounts.conversations
        self.settings = settings
        let builder = Builder(resource: Resource.ui("window"))
        window = builder["window"]
        panes = SplitPane(builder["panes"])
        toasts = builder["toasts"]
        overlaid = Object(owning: UnsafeMutableRawPointer(gtk_widget_observe_children(toasts.cast())))
        contentStack = builder["content_stack"]
        sidebarHeader = builder["sidebar_header"]
        rooms = builder["sidebar_stack"]
        searchPane = SearchPane(viewModel: coordinator.search)
        gtk_box_append(builder["sidebar", Box.self].cast(), searchPane.widget.cast())
        gtk_window_set_application(window.cast(), application.cast())
        avatars = AvatarLoader(service: coordinator.media)
        let list = RoomListView(
            viewModel: coordinator.rooms, list: builder["room_list"], stack: builder["sidebar_stack"],
            avatarLoader: avatars
        )
        list.onActivate = { [weak self] in self?.showConversationPane() }
        list.onDetails = { [weak self] in self?.showDetails(of: $0) }
        list.onLeave = { [weak self] in self?.confirmLeaving($0) }
        roomList = list
        setUpWindow()
        addActions()
        searchPane.onClose = { [weak self] in self?.searchClosed() }
        searchPane.onChoose = { [weak self] in self?.searchChose() }
        panes.onFold { [weak self] in self?.foldingChanged() }
        bindCoordinator()
        setUpAccounts(header: sidebarHeader, sidebar: builder["sidebar"])
    }

    /// Switches to the rooms of another account.
    func show(_ coordinator: ConversationCoordinator) {
        guard coordinator !== self.coordinator else { return }
        let before = self.coordinator
        (before.onToast, before.onLeaveRequested, before.onSent) = (nil, nil, nil)
        self.coordinator = coordinator
        avatars = AvatarLoader(service: coordinator.media)
        roomList?.show(coordinator.rooms, avatars)
        searchPane.show(coordinator.search)
        searchPane.widget.isVisible = coordinator.search.state.isOpen
        rooms.isVisible = !coordinator.search.state.isOpen
        bindCoordinator()
        showOpenConversation()
        Task { await before.flushDrafts() }
    }

    private func bindCoordinator() {
        let coordinator = coordinator
        coordinator.onToast = { [weak self] in self?.show($0) }
        coordinator.onLeaveRequested = { [weak self] in self?.confirmLeaving($0) }
        coordinator.onSent = { [weak self] in self?.conversationView?.scrollToEnd() }
        // Imports always go into the local account, whichever account is displayed.
        importing?.isEnabled = accounts.local.canImport
        joining?.isEnabled = coordinator.acceptsAddresses
        writing?.isEnabled = coordinator.canSearchUsers
        inviting?.isEnabled = coordinator.canSearchUsers
        renderings = [
            Rendering({ coordinator.openItem }, { [weak self] _ in self?.showOpenConversation() }),
            Rendering({ coordinator.rooms.state }, { [weak self] _ in self?.showRoomState() }),
            Rendering({ coordinator.rooms.state.isEmpty }, { [weak self] _ in self?.foldingChanged() }),
        ]
        foldingChanged()
    }

    /// Shows the room list if the panes are folded.
    public func showSidebar() {
        panes.visiblePane = .sidebar
        focusPane()
    }

    /// Shows the open conversation if the panes are folded.
    public func showConversation() { showConversationPane() }

    public func present() {
        // Render state changes that are still pending, so that the first frame is current.
        show(accounts.conversations)
        showOpenConversation()
        gtk_window_present(window.cast())
    }

    // MARK: Window

    private func setUpWindow() {
        addTyping()
        positionToasts()
        var size = (width: Int32(1000), height: Int32(720))
        if let settings { size = (Int32(settings.int("window-width")), Int32(settings.int("window-height"))) }
        gtk_window_set_default_size(window.cast(), size.width, size.height)
        if settings?.bool("window-maximized") == true { gtk_window_maximize(window.cast()) }
        window.intercept("close-request") { [weak self] _ in
            guard let self else { return false }
            self.close()
            return true
        }
    }

    /// Type-ahead: typing while a button or list has the focus starts a message.
    private func addTyping() {
        let keys = Object(owning: UnsafeMutableRawPointer(gtk_event_controller_key_new()))
        keys.intercept("key-pressed") { [weak self] arguments in
            let command = GDK_CONTROL_MASK.rawValue | GDK_ALT_MASK.rawValue | GDK_SUPER_MASK.rawValue
            guard let self, let view = self.conversationView, let controller = arguments.controller,
                !self.panes.isFolded || self.panes.visiblePane == .content, arguments.flags(2) & command == 0,
                KeyChord.isWriting(Int32(bitPattern: arguments.uint(0)))
            else { return false }
            return view.type(controller)
        }
        window.addController(keys)
    }

    /// Hides the window, saves its state and drafts, and destroys it.
    public func close() {
        guard !isClosing else { return }
        isClosing = true
        gtk_widget_set_visible(window.cast(), 0)
        saveWindowState()
        Task {
            await accounts.flushDrafts()
            onClosed?()
            gtk_window_destroy(window.cast())
        }
    }

    private func saveWindowState() {
        guard let settings else { return }
        var (width, height): (Int32, Int32) = (0, 0)
        gtk_window_get_default_size(window.cast(), &width, &height)
        settings.set("window-width", Int(width))
        settings.set("window-height", Int(height))
        settings.set("window-maximized", gtk_window_is_maximized(window.cast()) != 0)
    }

    // MARK: Rendering

    private func reportDisplayedRoom() {
        // A placeholder shown while an account opens is not the user's choice.
        guard !isClosing, !accounts.isWaiting, coordinator === accounts.conversations else { return }
        onDisplayedRoomChange?(accounts.selection, coordinator.rooms.state.selection)
    }

    private func showOpenConversation() {
        reportDisplayedRoom()
        let openItem: AnyObject? = coordinator.conversation ?? coordinator.invitation
        if let openItem, openItem === displayedItem { return }
        displayedItem = openItem
        let previous = conversationView?.widget ?? invitationView?.widget
        (conversationView, invitationView) = (nil, nil)
        if let conversation = coordinator.conversation {
            let view = ConversationView(conversation: conversation, settings: settings, avatars: avatars)
            view.roomAvatar = { [weak coordinator] room in
                coordinator?.rooms.state.rows.first { $0.id == room }?.avatar
            }
            view.roomNamed = { [weak coordinator] id in
                coordinator?.rooms.state.rows.first { $0.id.rawValue == id || $0.address == id }?.name
            }
            if coordinator.canSearchUsers {
                view.onOpen = { [weak self] address in
                    self?.coordinator.open(address)
                    self?.panes.visiblePane = .content
                }
            }
            view.onForward = { [weak self] in self?.promptForDestination(forward: $0) }
            conversationView = view
        } else if let invitation = coordinator.invitation {
            invitationView = InvitationView(invitation, avatarLoader: avatars)
        }
        if let page = conversationView?.widget ?? invitationView?.widget {
            gtk_stack_add_child(contentStack.cast(), page.cast())
            gtk_stack_set_visible_child(contentStack.cast(), page.cast())
            showRoomState()
            // Leave the focus in the search results while the user steps through them.
            if !coordinator.search.state.isOpen || panes.isFolded { focusPane() }
        } else {
            contentStack.visibleChild = "none"
            panes.visiblePane = .sidebar
        }
        roomActions.forEach { $0.isEnabled = conversationView != nil }
        if let previous { gtk_stack_remove(contentStack.cast(), previous.cast()) }
    }

    private func showRoomState() {
        invitationView?.show(isFolded: panes.isFolded)
        guard let row = coordinator.rooms.state.selectedRow else { return }
        conversationView?.show(row, isFolded: panes.isFolded)
    }

    private func foldingChanged() {
        sidebarHeader.setProperty("show-end-title-buttons", panes.isFolded)
        showRoomState()
        // A window folds once it has its first width, after GTK has focused its first button.
        if panes.isFolded, panes.visiblePane == .sidebar { focusPane() }
    }

    /// Focuses the main widget of the visible pane; by default, GTK would focus its first button, which would consume
    /// keystrokes.
    private func focusPane() {
        if !panes.isFolded || panes.visiblePane == .content {
            conversationView?.focusComposer()
            invitationView?.grabFocus()
        } else if !coordinator.search.state.isOpen {
            roomList?.grabFocus()
        }
    }

    private func showConversationPane() {
        guard coordinator.openItem != nil else { return }
        panes.visiblePane = .content
        conversationView?.focusComposer()
        invitationView?.grabFocus()
    }

    // MARK: Actions

    private func addActions() {
        actions.add("new-room") { [weak self] in self?.showNewRoom() }
        writing = actions.add("new-chat") { [weak self] in self?.showNewChat() }
        inviting = actions.add("invite") { [weak self] in self?.selected.map { self?.showInvite(to: $0) } }
        actions.add("show-help-overlay") { [weak self] in self?.showShortcuts() }
        actions.add("close") { [weak self] in self?.close() }
        actions.add("back") { [weak self] in self?.showSidebar() }
        actions.add("next-region") { [weak self] in self?.focusNextRegion(1) }
        actions.add("previous-region") { [weak self] in self?.focusNextRegion(-1) }
        actions.add("zoom-in") { [weak self] in self?.zoom(.larger) }
        actions.add("zoom-out") { [weak self] in self?.zoom(.smaller) }
        actions.add("zoom-reset") { [weak self] in self?.zoom(.normal) }
        actions.add("next-room") { [weak self] in self?.step(.selectNeighbor(1)) }
        actions.add("previous-room") { [weak self] in self?.step(.selectNeighbor(-1)) }
        actions.add("next-unread-room") { [weak self] in self?.step(.selectUnreadNeighbor(1)) }
        actions.add("previous-unread-room") { [weak self] in self?.step(.selectUnreadNeighbor(-1)) }
        importing = actions.add("import") { [weak self] in self?.chooseImport() }
        addAccountActions(to: actions)
        actions.add("search") { [weak self] in self?.openSearch() }
        roomActions = [
            actions.add("export-room") { [weak self] in self?.chooseExport() },
            actions.add("find") { [weak self] in self?.findInRoom() },
            actions.add("jump-to-date") { [weak self] in self?.conversationView?.openCalendar() },
            actions.add("retry-unsent") { [weak self] in self?.conversationView?.retryFailed() },
            actions.add("discard-unsent") { [weak self] in self?.conversationView?.confirmDiscardingAll() },
            actions.add("find-older") { [weak self] in self?.conversationView?.stepSearch(newer: false) },
            actions.add("find-newer") { [weak self] in self?.conversationView?.stepSearch(newer: true) },
            actions.add("room-details") { [weak self] in self?.selected.map { self?.showDetails(of: $0) } },
            actions.add("leave-room") { [weak self] in self?.selected.map { self?.confirmLeaving($0) } },
            actions.add("add-files") { [weak self] in self?.conversationView?.addFiles() },
            actions.add("newest-message") { [weak self] in self?.conversationView?.scrollToEnd() },
        ]
        // Replaces the window's own action group: actions added to that one outlive the window (GTK 4.8).
        window.insertActions(actions, prefix: "win")
    }

    private func step(_ action: RoomListViewModel.Action) { coordinator.rooms.send(action) }

    private func zoom(_ step: TextZoom.Step) {
        let percent = TextZoom.percent(after: step)
        TextZoom.apply(percent: percent)
        settings?.set("text-zoom", percent)
    }

    private var selected: RoomID? { coordinator.rooms.state.selection }

    /// Cycles through room list, timeline and composer (F6).
    private func focusNextRegion(_ step: Int) {
        guard let view = conversationView else {
            roomList?.grabFocus()
            return
        }
        let focus = gtk_window_get_focus(window.cast()).map { Widget(borrowing: $0) }
        let isText = focus.map { shim_is_a($0.pointer, gtk_text_view_get_type()) != 0 } ?? false
        let isRow = focus.map { $0.hasStyle("message-row") } ?? false
        let current = isText ? 2 : isRow ? 1 : 0
        switch (current + step + 3) % 3 {
        case 0: roomList?.grabFocus()
        case 1: view.focusTimeline()
        default: view.focusComposer()
        }
    }

    // MARK: Dialogs

    private func showShortcuts() {
        let builder = Builder(resource: Resource.ui("help-overlay"))
        let shortcuts: Widget = builder["help_overlay"]
        gtk_window_set_transient_for(shortcuts.cast(), window.cast())
        gtk_window_present(shortcuts.cast())
    }

    private func promptForDestination(forward messages: [MessageID]) {
        ForwardDialog.present(
            over: window, find: { [weak self] in self?.coordinator.destinations(matching: $0) ?? [] },
            avatarLoader: avatars, choose: { [weak self] in self?.coordinator.forward(messages, to: $0) })
    }

    func confirmLeaving(_ room: RoomID) {
        guard let row = coordinator.rooms.state.rows.first(where: { $0.id == room }) else { return }
        Confirmation.present(
            over: window, heading: translated("Leave “%s”?").replacing("%s", with: row.name),
            body: translated("Its messages are deleted from this computer."), action: translated("_Leave")
        ) { [weak self] in self?.coordinator.rooms.send(.leave(room)) }
    }
}
