import ChatCore
import ChatViewModels
import GtkKit

/// Moves between the room list and the open conversation: which of them a folded window shows, and which part of them
/// has the keyboard focus.
final class PaneNavigation {
    private let panes: SplitPane
    /// Shown instead of the panes.
    weak var welcomeView: WelcomeView?
    private let accounts: AccountsCoordinator
    private let sidebar: Sidebar
    private let content: ContentPane
    private var account: DisplayedAccount
    private var awaitedRoom = AwaitedRoom()
    /// The pane that was visible when the wait began.
    private var awaitingPane = SplitPane.Pane.sidebar
    /// How often the window has shown the room list by itself, because nothing was open any more.
    private var emptyings = 0

    init(
        between sidebar: Sidebar, and content: ContentPane, in panes: SplitPane, showing account: DisplayedAccount,
        of accounts: AccountsCoordinator
    ) {
        self.panes = panes
        self.sidebar = sidebar
        self.content = content
        self.accounts = accounts
        self.account = account
    }

    func show(_ account: DisplayedAccount) {
        awaitedRoom = AwaitedRoom()
        self.account = account
    }

    // MARK: The visible pane

    var isContentVisible: Bool { !panes.isFolded || panes.visiblePane == .content }

    func showSidebar() {
        awaitedRoom = AwaitedRoom()
        panes.visiblePane = .sidebar
        focusPane()
    }

    func showConversation() {
        awaitedRoom = AwaitedRoom()
        switch account.coordinator.openItem {
        case .window(let room)?: return account.coordinator.openWindow(of: room)
        case nil: return
        default: break
        }
        panes.visiblePane = .content
        content.grabFocus()
    }

    /// Shows a room in place of the room list as soon as it is open, see ``AwaitedRoom``.
    func showOnceOpen(_ room: AccountRoom) {
        awaitingPane = panes.visiblePane
        guard awaitedRoom.request(room, open: account.coordinator.openItem, in: accountID) else { return }
        panes.visiblePane = .content
        if panes.isFolded { focusPane() }
    }

    /// Notes that the conversation pane shows something else.
    /// - Parameters:
    ///   - accepted: the room whose invitation it showed, if that was accepted.
    ///   - hadFocus: whether what it showed before had the keyboard focus.
    func noteOpenItem(accepted: RoomID?, hadFocus: Bool) {
        if content.isEmpty {
            // The room is listed a moment after the invitation to it is gone.
            if let accepted, isContentVisible {
                _ = awaitedRoom.request(AccountRoom(accountID, accepted), open: nil, in: accountID)
            }
            panes.visiblePane = .sidebar
            awaitingPane = .sidebar
            emptyings += 1
            // GTK would give it to the button of a toast, which is shown as long as it has the focus, and others after it.
            if hadFocus { focusSidebar() }
        } else {
            if let open = account.coordinator.openItem, awaitedRoom.noteOpened(open, in: accountID),
                !hasGoneBack(since: awaitingPane)
            {
                panes.visiblePane = .content
            }
            // Leave the focus in the search results while the user steps through them.
            if !isSearching || panes.isFolded { focusPane() }
        }
    }

    /// Returns whether a room that is asked for now is still to be shown once it is open: not if the user has gone back
    /// to the room list meanwhile, or searches there, as the composer would receive what they type.
    func staying() -> @MainActor () -> Bool {
        let (pane, wasSearching, emptyings) = (panes.visiblePane, isSearching, emptyings)
        return { [weak self, weak former = account.coordinator] in
            guard let self else { return false }
            // Another account is shown by the request itself.
            guard former === account.coordinator, emptyings == self.emptyings else { return true }
            return !hasGoneBack(since: pane) && (!isSearchingInFront || wasSearching)
        }
    }

    /// Shows what the search leads to.
    func showResult() { if panes.isFolded { panes.visiblePane = .content } }

    /// The ID of the displayed account, which follows the selected one a moment later.
    private var accountID: String { accounts.account(of: account.coordinator) ?? accounts.selection }

    private func hasGoneBack(since pane: SplitPane.Pane) -> Bool {
        panes.isFolded && pane == .content && panes.visiblePane == .sidebar
    }

    // MARK: Searching

    var isSearching: Bool { account.coordinator.search.state.isOpen }

    private var isSearchingInFront: Bool { panes.isFolded && panes.visiblePane == .sidebar && isSearching }

    func search() {
        awaitedRoom = AwaitedRoom()
        panes.visiblePane = .sidebar
        sidebar.openSearch()
    }

    func toggleSearch() { if isSearching { sidebar.searchPane.close() } else { search() } }

    func noteSearchClosed() {
        if !panes.isFolded, let view = content.conversationView {
            view.focusComposer()
        } else {
            sidebar.roomList.grabFocus()
        }
    }

    // MARK: Keyboard focus

    /// Focuses the main widget of the visible pane; by default, GTK would focus its first button, which would consume
    /// keystrokes.
    func focusPane() {
        if let welcomeView {
            welcomeView.grabFocus()
        } else if isContentVisible {
            content.grabFocus()
        } else if !isSearching {
            sidebar.roomList.grabFocus()
        }
    }

    /// Cycles through room list, timeline and composer (F6), as far as they are on the screen.
    func focusNextRegion(_ step: Int) {
        let view = content.conversationView
        // `nil` is the room list, or the search in its place.
        var regions: [ConversationView.Region?] = []
        if !panes.isFolded || panes.visiblePane == .sidebar { regions.append(nil) }
        for region in view?.regions ?? [] { regions.append(region) }
        guard !regions.isEmpty else { return }
        let current = regions.firstIndex(of: view?.focusedRegion) ?? 0
        switch regions[(current + step + regions.count) % regions.count] {
        case .timeline?: view?.focusTimeline()
        case .composer?: view?.focusComposer()
        case nil: focusSidebar()
        }
    }

    private func focusSidebar() {
        if isSearching { sidebar.searchPane.field.grabFocus() } else { sidebar.roomList.grabFocus() }
    }
}
