/// The commands of a window's keys and menus, without their parameters.
enum WindowCommand: CaseIterable {
    case newRoom, newChat, joinRoom, invite, addAccount, importConversations
    case search, toggleSearch, find, findOlder, findNewer, jumpToDate
    case switchRoom, nextRoom, previousRoom, nextUnreadRoom, previousUnreadRoom, nextRegion, previousRegion, back
    case openWindow, roomDetails, leaveRoom, exportRoom, addFiles, retryUnsent, discardUnsent
    case zoomIn, zoomOut, zoomReset, showHelp, close

    /// What a command needs to be enabled.
    enum Need {
        case nothing, userDirectory, addresses, accounts, imports
        /// Requires rooms, which the welcome page does not have.
        case rooms
        /// Requires a room list in the same window.
        case roomList
        case openRoom
        /// Requires an open room in the main window.
        case openRoomInMainWindow
    }

    /// The name of its action in the group `win`, which menus and key bindings refer to.
    var actionName: String {
        switch self {
        case .newRoom: "new-room"
        case .newChat: "new-chat"
        case .joinRoom: "join-room"
        case .invite: "invite"
        case .addAccount: "add-account"
        case .importConversations: "import"
        case .search: "search"
        case .toggleSearch: "toggle-search"
        case .find: "find"
        case .findOlder: "find-older"
        case .findNewer: "find-newer"
        case .jumpToDate: "jump-to-date"
        case .switchRoom: "switch-room"
        case .nextRoom: "next-room"
        case .previousRoom: "previous-room"
        case .nextUnreadRoom: "next-unread-room"
        case .previousUnreadRoom: "previous-unread-room"
        case .nextRegion: "next-region"
        case .previousRegion: "previous-region"
        case .back: "back"
        case .openWindow: "open-window"
        case .roomDetails: "room-details"
        case .leaveRoom: "leave-room"
        case .exportRoom: "export-room"
        case .addFiles: "add-files"
        case .retryUnsent: "retry-unsent"
        case .discardUnsent: "discard-unsent"
        case .zoomIn: "zoom-in"
        case .zoomOut: "zoom-out"
        case .zoomReset: "zoom-reset"
        case .showHelp: "show-help-overlay"
        case .close: "close"
        }
    }

    /// Whether its action is on or off.
    var isToggle: Bool { self == .toggleSearch }

    var need: Need {
        switch self {
        case .newChat, .invite: .userDirectory
        case .joinRoom: .addresses
        case .addAccount: .accounts
        case .importConversations: .imports
        case .find, .findOlder, .findNewer, .jumpToDate, .roomDetails, .leaveRoom, .exportRoom, .addFiles,
            .retryUnsent, .discardUnsent:
            .openRoom
        case .openWindow: .openRoomInMainWindow
        case .search, .switchRoom, .nextRegion, .previousRegion: .rooms
        case .toggleSearch, .nextRoom, .previousRoom, .nextUnreadRoom, .previousUnreadRoom, .back: .roomList
        default: .nothing
        }
    }
}
