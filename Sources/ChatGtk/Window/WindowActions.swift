import ChatViewModels
import GtkKit

/// The actions of a window, each enabled while the accounts and the open room support it.
final class WindowActions {
    private let group = ActionGroup()
    private let actions: [WindowCommand: Action]

    /// - Parameters:
    ///   - perform: performs a command.
    ///   - open: opens the address of a room or user.
    init(
        on window: TopLevel, opensAddresses: Bool, perform: @escaping @MainActor (WindowCommand) -> Void,
        open: @escaping @MainActor (String) -> Void
    ) {
        let group = group
        actions = Dictionary(
            uniqueKeysWithValues: WindowCommand.allCases.map { command in
                let activate: @MainActor () -> Void = { [weak window] in
                    // A dialog within the window leaves the window's shortcuts active.
                    guard let dialog = window?.visibleDialog else { return perform(command) }
                    if command == .close { dialog.close() }
                }
                guard command.isToggle else { return (command, group.add(command.actionName, activate)) }
                return (command, group.add(command.actionName, isOn: false, activate))
            })
        // Without account support, links open in other applications.
        group.add("open-address", isEnabled: opensAddresses, withString: open)
        // Replaces the window's own action group: actions added to that one outlive the window (GTK 4.8).
        window.insertActions(group, prefix: "win")
    }

    func update(for account: ConversationCoordinator, of accounts: AccountsCoordinator) {
        enable(.addresses, account.acceptsAddresses)
        enable(.userDirectory, account.dialogs.canSearchUsers)
        enable(.accounts, accounts.supportsAccounts)
        // Imports always go into the local account, whichever account is displayed.
        enable(.imports, accounts.local.environment.canImport)
    }

    /// - Parameter isInMainWindow: `false` in a room's own window, which has no room list.
    func update(hasOpenRoom: Bool, isInMainWindow: Bool = true) {
        enable(.openRoom, hasOpenRoom)
        enable(.openRoomInMainWindow, hasOpenRoom && isInMainWindow)
        if !isInMainWindow { enable(.roomList, false) }
    }

    /// - Parameter showsRooms: whether the main window shows its room list, unlike on the welcome page.
    func update(showsRooms: Bool) {
        enable(.rooms, showsRooms)
        enable(.roomList, showsRooms)
    }

    /// Shows whether the search in all rooms is open.
    func update(isSearching: Bool) { actions[.toggleSearch]?.isOn = isSearching }

    private func enable(_ need: WindowCommand.Need, _ isEnabled: Bool) {
        for (command, action) in actions where command.need == need { action.isEnabled = isEnabled }
    }
}
