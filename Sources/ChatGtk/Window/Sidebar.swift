import ChatCore
import ChatViewModels
import GtkKit

/// The left pane: the room list, or the search in its place, under the accounts and the state of their connection.
final class Sidebar {
    /// Events in the sidebar that concern the window.
    struct Outputs {
        /// A room was activated by pointer or keyboard, even if it was open already.
        var roomActivated: () -> Void
        var detailsRequested: (RoomID) -> Void
        var leavingRequested: (RoomID) -> Void
        var windowRequested: (RoomID) -> Void
        /// A search result was chosen.
        var resultChosen: () -> Void
        var searchClosed: () -> Void
    }

    /// The stack with the room list, which the search hides.
    let rooms: Stack
    private var madeSearchPane: SearchPane?
    let roomList: RoomListView
    private let box: Box
    private var account: DisplayedAccount
    private let outputs: Outputs
    private let header: HeaderBar
    private let accountBar: AccountBar

    /// - Parameter height: The height in pixels at which the window appears, or `nil` if it is not known.
    init(
        _ builder: Builder, showing account: DisplayedAccount, accounts: AccountsCoordinator,
        accountPresenter: AccountPresenter, encryption: EncryptionPresenter, height: Int?, outputs: Outputs
    ) {
        rooms = builder["sidebar_stack"]
        header = builder["sidebar_header"]
        box = builder["sidebar"]
        self.account = account
        self.outputs = outputs
        roomList = RoomListView(
            viewModel: account.coordinator.rooms, list: builder["room_list"], stack: rooms,
            avatarLoader: account.avatars, height: height)
        accountBar = AccountBar(
            accounts, presenter: accountPresenter, encryption: encryption, header: header, in: builder)
        roomList.onActivate = outputs.roomActivated
        roomList.onDetails = outputs.detailsRequested
        roomList.onLeave = outputs.leavingRequested
        roomList.onOpenWindow = outputs.windowRequested
    }

    /// Made when it is first opened.
    var searchPane: SearchPane {
        if let madeSearchPane { return madeSearchPane }
        let pane = SearchPane(viewModel: account.coordinator.search)
        box.append(pane.widget)
        pane.onChoose = outputs.resultChosen
        pane.onClose = { [weak self] in
            self?.show(isSearching: false)
            self?.outputs.searchClosed()
        }
        madeSearchPane = pane
        return pane
    }

    /// Switches to the rooms of another account.
    func show(_ account: DisplayedAccount) {
        roomList.show(account.coordinator.rooms, account.avatars)
        self.account = account
        madeSearchPane?.show(account.coordinator.search)
        show(isSearching: account.coordinator.search.state.isOpen)
    }

    func openSearch() {
        show(isSearching: true)
        searchPane.open()
    }

    /// Shows the window's buttons, and the badge of the open room, if the other pane is not visible.
    func show(isFolded: Bool) {
        header.showsEndTitleButtons = isFolded
        roomList.show(isFolded: isFolded)
    }

    /// Hides the badges of rooms while the user sees their messages.
    func show(_ seen: SeenRooms) { roomList.show(seen) }

    private func show(isSearching: Bool) {
        let pane = isSearching ? searchPane : madeSearchPane
        pane?.widget.isVisible = isSearching
        rooms.isVisible = !isSearching
    }
}
