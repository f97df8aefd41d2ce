import ChatCore
import ComposerSessions

/// Opens rooms and users that links, the command line and other programs name.
extension AccountsCoordinator {
    /// How long a link waits for the accounts to open: a history may have to be repaired first. Another account must
    /// not open it instead.
    private static let openingTimeout = Duration.seconds(120)

    /// Opens a room or user by Matrix ID, alias or link, in the displayed account or else in the first account that
    /// accepts addresses. Waits for accounts that are still being opened, as after a start by a link. A user who has
    /// chosen another account or room meanwhile stays there.
    /// - Parameters:
    ///   - opening: see ``ConversationCoordinator/open(_:opening:)``.
    ///   - withoutAccount: called if there is no such account.
    public func open(
        _ address: String, opening: @escaping @MainActor (AccountRoom) -> Void = { _ in },
        withoutAccount: @escaping @MainActor () -> Void = {}
    ) {
        let choice = UserChoice()
        guard !isReadyForAddresses else { return openNow(address, choice, opening, withoutAccount) }
        Task { [weak self, time] in
            await time.wait(atMost: Self.openingTimeout) { self?.isReadyForAddresses ?? true }
            self?.openNow(address, choice, opening, withoutAccount)
        }
    }

    private func openNow(
        _ address: String, _ choice: UserChoice, _ opening: @escaping @MainActor (AccountRoom) -> Void,
        _ withoutAccount: @MainActor () -> Void
    ) {
        guard let account = accountForAddresses else { return withoutAccount() }
        let isShown = !isOutdated(choice)
        if isShown, account != selection { select(account, as: choice) }
        // The room is joined in any case, as the user has asked for it.
        coordinator(of: account)?.open(address, as: choice) { room in
            if isShown { opening(AccountRoom(account, room)) }
        }
    }

    /// Whether it is certain which account opens addresses, if any does, and its rooms are listed.
    private var isReadyForAddresses: Bool {
        guard hasAccountStates, !isWaiting else { return false }
        if let account = accountForAddresses { return coordinator(of: account)?.rooms.state.isLoaded == true }
        return everyAccount { _ in true }
    }

    /// The displayed account if its server resolves room addresses and user IDs, else the first whose server does.
    private var accountForAddresses: String? {
        if conversations.acceptsAddresses { return selection }
        return coordinatorIDs.first { $0 != Self.localID && coordinator(of: $0)?.acceptsAddresses == true }
    }

    /// Selects the account to start a direct chat in: the displayed one if it can search for people, else the first that
    /// can. Waits for accounts that are still being opened. A user who has chosen another account or room meanwhile stays
    /// there.
    /// - Parameter selected: called with `false` if the account that is displayed then cannot.
    public func selectAccountForDirectChats(_ selected: @escaping @MainActor (Bool) -> Void) {
        let choice = UserChoice()
        guard !isReadyForDirectChats else { return selectNow(choice, selected) }
        Task { [weak self, time] in
            await time.wait(atMost: Self.connectingTimeout) { self?.isReadyForDirectChats ?? true }
            self?.selectNow(choice, selected)
        }
    }

    private func selectNow(_ choice: UserChoice, _ selected: @MainActor (Bool) -> Void) {
        if let account = accountForDirectChats, !isOutdated(choice) { select(account, as: choice) }
        selected(conversations.dialogs.canSearchUsers)
    }

    /// Whether it is certain which account direct chats are started in, if any is.
    private var isReadyForDirectChats: Bool {
        guard hasAccountStates, !isWaiting else { return false }
        return accountForDirectChats != nil || everyAccount { _ in true }
    }

    private var accountForDirectChats: String? {
        ([selection] + coordinatorIDs).first { coordinator(of: $0)?.dialogs.canSearchUsers == true }
    }

    /// Opens the room with a name, in the displayed account if it has one, else in the first account that has. Case is
    /// ignored. Waits for accounts that are still being opened, and shows a toast if there is no such room. A user who
    /// has chosen another account or room meanwhile stays there.
    /// - Parameter opening: called with the room once it is selected.
    public func openRoom(named name: String, opening: @escaping @MainActor (AccountRoom) -> Void = { _ in }) {
        let choice = UserChoice()
        Task {
            await time.wait(atMost: Self.connectingTimeout) { [weak self] in
                self.map { $0.room(named: name) != nil || $0.hasLoadedAllRooms } ?? true
            }
            if let room = self.room(named: name) {
                guard !isOutdated(choice) else { return }
                select(room.account, as: choice)
                conversations.show(nil, in: room.room, as: choice)
                opening(room)
            } else {
                let translator = conversations.environment.translator
                conversations.requests.show(.message(translator("No room is named “{name}”", ["name": name])))
            }
        }
    }

    private func room(named name: String) -> AccountRoom? {
        let name = name.lowercased()
        for account in [selection] + coordinatorIDs {
            let row = coordinator(of: account)?.rooms.state.rows.first { $0.name.lowercased() == name }
            if let row { return AccountRoom(account, row.id) }
        }
        return nil
    }

    private var hasLoadedAllRooms: Bool {
        hasAccountStates && everyAccount { $0.rooms.state.isLoaded }
    }

    /// Whether every account is open and satisfies a condition, except for those that cannot be opened.
    private func everyAccount(_ condition: (ConversationCoordinator) -> Bool) -> Bool {
        rows.allSatisfy { row in
            if case .broken = row.condition { return true }
            return coordinator(of: row.id).map(condition) ?? false
        }
    }
}
