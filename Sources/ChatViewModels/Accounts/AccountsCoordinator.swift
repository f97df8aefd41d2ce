public import ChatCore
public import ComposerSessions
public import Observation

/// The accounts, one of which the main window displays.
///
/// Room IDs may coincide between accounts, so each has its own ``ConversationCoordinator``.
@Observable
@MainActor
public final class AccountsCoordinator {
    /// An entry of the account list.
    public nonisolated struct Row: Identifiable, Equatable, Sendable {
        public let id: String
        /// Empty for local conversations, which the view names.
        public var name: String
        /// `nil` for local conversations.
        public var account: Account?
        public var condition: AccountCondition
        public var encryption = EncryptionCondition.none
        public var unreadCount: Int
        public var isSelected: Bool
        /// Whether the user has confirmed signing out, and the server has not answered yet.
        public var isSigningOut = false

        public var isLocal: Bool { account == nil }
        /// Whether signing in again may help.
        public var canSignInAgain: Bool { if case .locked = condition { true } else { condition.needsSignIn } }
        /// Whether its store could be opened.
        public var isOpen: Bool { if case .broken = condition { false } else { true } }
    }

    /// An account and its open room, if any.
    public nonisolated struct DisplayedRoom: Equatable, Sendable {
        public let account: String
        public let room: RoomID?
    }

    /// The banner above the room list of an account that is not connected.
    public nonisolated enum Banner: Equatable, Sendable {
        case connecting
        case offline
        case untrusted(SignInProblem.Certificate)
        case signedOut(isSoft: Bool)
        case locked(CredentialStoreError)
    }

    /// The list ID of the local conversations.
    public static nonisolated let localID = ""

    /// The ID of the selected account.
    public private(set) var selection = AccountsCoordinator.localID
    public var conversations: ConversationCoordinator { open[selection] ?? local }
    /// The account and the room that are shown, or `nil` while a requested account is not open yet: what is shown
    /// until then is not the user's choice.
    public var displayed: DisplayedRoom? {
        isWaiting ? nil : DisplayedRoom(account: selection, room: conversations.rooms.state.selection)
    }

    /// Whether the open conversation is visible in the active main window.
    public internal(set) var isAttended = false
    /// The room whose own window is active.
    var attendedWindow: AccountRoom?
    /// The room whose own window was active last, whether or not a dialog covers it; `nil` for the main window.
    var windowInUse: AccountRoom?
    /// Rooms whose windows will be restored once their accounts are open.
    @ObservationIgnored var awaitedWindows: [String: [RoomID]] = [:]

    @ObservationIgnored public let local: ConversationCoordinator
    /// The welcome page of a first start, or `nil`.
    @ObservationIgnored public let welcome: WelcomeViewModel?
    /// Whether the welcome page replaces the rooms: the user has not chosen, and no room exists.
    public var showsWelcome: Bool {
        welcome?.state.isPending == true && selection == Self.localID && !isWaiting && states.isEmpty
            && hasAccountStates && local.rooms.state.isLoaded && local.rooms.state.isEmpty
    }
    @ObservationIgnored public let unsentReplies: UnsentReplies
    @ObservationIgnored public let verifications = VerificationQueue()
    /// The account that was just added and still needs its encryption set up.
    var addedAccount: String?
    /// Whether there can be accounts besides the local conversations.
    public var supportsAccounts: Bool { service != nil }
    @ObservationIgnored let service: (any SignInService & AccountService)?
    private var states: [AccountState] = []
    private var open: [String: ConversationCoordinator] = [:]
    /// The last sign-out of each account, over or not.
    private var signOuts: [String: SignOutViewModel] = [:]
    /// Accounts that have been connecting longer than ``connectingTimeout``.
    private var slow: Set<String> = []
    @ObservationIgnored private let make: (String, AccountSession) async -> ConversationCoordinator?
    @ObservationIgnored private var sessions: [String: AccountSession] = [:]
    @ObservationIgnored let time: Timekeeper
    private var hasStarted = false
    private(set) var hasWindow = true
    @ObservationIgnored private var listening: Task<Void, Never>?
    @ObservationIgnored private var waits: [String: Task<Void, Never>] = [:]
    /// The account to select once it is open.
    private var requestedID: String?
    /// When that was requested, by the user or at the start.
    @ObservationIgnored private var request = UserChoice()
    /// The user's last choice of an account.
    @ObservationIgnored private var lastChoice: UserChoice?
    /// Whether the requested account is not open yet.
    public var isWaiting: Bool { requestedID != nil }

    static let connectingTimeout = Duration.seconds(3)

    /// - Parameters:
    ///   - service: signs in and observes accounts; `nil` for local conversations only.
    ///   - welcome: the welcome page; `nil` for none.
    ///   - unsentReplies: the replies on their way, with those that an earlier session could not send.
    ///   - make: returns an account's coordinator, which observes the session; `nil` while the account cannot be
    ///   opened.
    public init(
        local: ConversationCoordinator, service: (any SignInService & AccountService)? = nil,
        time: Timekeeper = .continuous, welcome: WelcomeViewModel? = nil,
        unsentReplies: UnsentReplies = UnsentReplies(),
        make: @escaping (String, AccountSession) async -> ConversationCoordinator? = { _, _ in nil }
    ) {
        self.local = local
        self.service = service
        self.time = time
        self.welcome = welcome
        self.unsentReplies = unsentReplies
        self.make = make
        if let encryption = local.encryption { verifications.follow(encryption, of: Self.localID) }
        keepUnsent(of: local, in: Self.localID)
    }

    isolated deinit {
        listening?.cancel()
        for wait in waits.values { wait.cancel() }
    }

    /// Subscribes to the accounts, and selects one once it is open.
    public func start(showing account: String) {
        if listening == nil { restoreReplies(to: Self.localID, in: local) }
        guard listening == nil, let service else { return }
        requestedID = account == Self.localID ? nil : account
        request = UserChoice()
        let stream = service.accountStates()
        listening = Task { [weak self] in
            for await states in stream { await self?.apply(states) }
        }
    }

    /// Whether the list of accounts is known.
    var hasAccountStates: Bool { hasStarted || service == nil }

    /// Whether the account exists, open or not.
    func isListed(_ account: String) -> Bool { account == Self.localID || states.contains { $0.id == account } }

    /// Returns the conversations of an account, or `nil` while it is not open.
    func coordinator(of account: String) -> ConversationCoordinator? {
        account == Self.localID ? local : open[account]
    }

    /// The IDs of the open accounts, with the local one first.
    public var coordinatorIDs: [String] { [Self.localID] + states.map(\.id).filter { open[$0] != nil } }

    /// The media services of the open accounts, by account.
    public var media: [String: any MediaService] {
        open.mapValues { $0.media }.merging([Self.localID: local.media]) { open, _ in open }
    }

    // MARK: The main window

    /// Opens the main window's rooms. Call it before creating the window.
    public func attachWindow() {
        hasWindow = true
        local.attachWindow()
        for coordinator in open.values { coordinator.attachWindow() }
    }

    /// Closes the main window's rooms; the accounts stay open. Store the drafts first, see ``flushDrafts()``.
    public func detachWindow() {
        hasWindow = false
        local.detachWindow()
        for coordinator in open.values { coordinator.detachWindow() }
    }

    /// Returns when the requested account is shown, or after `limit`.
    public func waitForSelection(within limit: Duration) async {
        await time.wait(atMost: limit) { [weak self] in
            self.map { !$0.isWaiting && ($0.welcome?.state.isPending != true || $0.hasAccountStates) } ?? true
        }
    }

    /// Returns when the requested account is shown with its rooms, or after `limit`.
    public func waitUntilIdle(within limit: Duration) async {
        let end = time.now() + limit
        await waitForSelection(within: limit)
        await conversations.waitUntilIdle(within: max(.zero, end - time.now()))
    }

    public var rows: [Row] {
        let first = Row(
            id: Self.localID, name: "", account: nil, condition: .online,
            unreadCount: local.rooms.state.unreadTotal, isSelected: selection == Self.localID)
        return [first]
            + states.map { state in
                Row(
                    id: state.id, name: state.account.name, account: state.account, condition: state.condition,
                    encryption: state.encryption,
                    unreadCount: open[state.id]?.rooms.state.unreadTotal ?? 0, isSelected: selection == state.id,
                    isSigningOut: signOuts[state.id]?.state.isBusy == true)
            }
    }

    /// The accounts' names by ID. That of the local account is empty.
    var accountNames: [String: String] {
        Dictionary(
            states.map { ($0.id, $0.account.name) } + [(Self.localID, "")], uniquingKeysWith: { first, _ in first })
    }

    public var selectedRow: Row { rows.first { $0.isSelected } ?? rows[0] }
    /// The condition in ``selectedRow``, which otherwise depends on all rooms of all accounts.
    var selectedCondition: AccountCondition { states.first { $0.id == selection }?.condition ?? .online }

    /// The banner of the selected account, or `nil` if it needs none.
    public var banner: Banner? {
        switch selectedCondition {
        case .online, .broken: nil
        case .connecting: slow.contains(selection) ? .connecting : nil
        case .offline: .offline
        case .untrusted(let certificate): .untrusted(certificate)
        case .signedOut(let isSoft): .signedOut(isSoft: isSoft)
        case .locked(let error): .locked(error)
        }
    }

    // MARK: Actions

    /// Selects an account once it is open.
    public func select(_ account: String) { select(account, as: UserChoice()) }

    /// - Parameter choice: when the user chose it.
    func select(_ account: String, as choice: UserChoice) {
        if !choice.isOutdated(by: lastChoice) { lastChoice = choice }
        guard account == Self.localID || open[account] != nil else {
            (requestedID, request) = (account, choice)
            return
        }
        display(account)
    }

    /// Whether the user has chosen another account since, or a room in the displayed one.
    func isOutdated(_ choice: UserChoice) -> Bool {
        choice.isOutdated(by: lastChoice) || choice.isOutdated(by: conversations.rooms.lastChoice)
    }

    /// Displays an open account.
    private func display(_ account: String) {
        requestedID = nil
        guard account != selection else { return }
        let left = conversations
        selection = account
        // Opening the local account while there is another also makes the choice.
        if account == Self.localID, !states.isEmpty { welcome?.send(.chooseThisComputer) }
        Task { await left.flushDrafts() }
    }

    /// Selects an account in the list, or tries again to open it.
    public func choose(_ account: String) {
        guard let row = rows.first(where: { $0.id == account }) else { return }
        if row.isOpen { select(account) } else { retry(account) }
    }

    public func retry(_ account: String) {
        guard let service else { return }
        Task { await service.retry(account) }
    }

    /// Reconnects all accounts after the computer was suspended or has changed networks.
    public func reconnect() {
        guard let service else { return }
        Task { await service.reconnect() }
    }

    /// Returns the view model of signing in, or `nil` if accounts are not supported. An account that is added is selected.
    public func signIn() -> SignInViewModel? {
        service.map { service in
            SignInViewModel(service: service) { [weak self] account in
                self?.select(account)
                self?.addedAccount = account
            }
        }
    }

    /// Returns the view model of signing in to an account again, or `nil` for local conversations.
    public func signIn(again account: Account?) -> SignInViewModel? {
        guard let service, let account else { return nil }
        return SignInViewModel(service: service, again: account)
    }

    /// Returns the view model of signing out, or `nil` if accounts are not supported: the earlier one while that is busy,
    /// so that the server is asked once.
    public func signOut(_ account: String) -> SignOutViewModel? {
        guard let service else { return nil }
        if let last = signOuts[account] {
            if last.state.isBusy { return last }
            // Its question is gone with its window: while open, it covers the account list.
            last.send(.cancel)
        }
        let coordinator = open[account]
        let viewModel = SignOutViewModel(account: account, service: service) { [weak coordinator] in
            await coordinator?.flushDrafts()
        }
        signOuts[account] = viewModel
        return viewModel
    }

    /// Returns the view model of an export or import; `nil` if neither is supported. Imports always go to the local
    /// account.
    /// - Parameter account: the account to export from; `nil` for the displayed one.
    public func transfer(
        _ task: TransferViewModel.Task, in account: ConversationCoordinator? = nil
    ) -> TransferViewModel? {
        switch task {
        case .export: (account ?? conversations).environment.archive.map { TransferViewModel(task, archive: $0) }
        case .import:
            local.environment.archive.map {
                TransferViewModel(task, archive: $0) { [weak self] room in
                    self?.select(Self.localID)
                    self?.local.rooms.send(.select(room))
                }
            }
        }
    }

    /// Stores the drafts and scroll positions of all accounts.
    public func flushDrafts() async {
        await local.flushDrafts()
        for coordinator in open.values { await coordinator.flushDrafts() }
    }

    // MARK: Service updates

    private func apply(_ states: [AccountState]) async {
        let ids = Set(states.map(\.id))
        // The account of the last session or of a notification may have been removed since. One that was just added is
        // listed a moment later.
        if let missing = requestedID, !ids.contains(missing), missing != addedAccount || isListed(missing) {
            requestedID = nil
        }
        hasStarted = true
        self.states = states
        for id in open.keys where !ids.contains(id) {
            if selection == id { display(Self.localID) }
            (open[id], sessions[id]) = (nil, nil)
            verifications.forget(id)
        }
        for id in signOuts.keys where !ids.contains(id) { signOuts[id] = nil }
        for state in states {
            trackConnecting(state)
            // An account whose store failed to open has no rooms to show.
            if case .broken = state.condition { continue }
            let session = sessions[state.id] ?? AccountSession()
            sessions[state.id] = session
            session.retry = { [weak self] in self?.retry(state.id) }
            session.apply(state)
            guard open[state.id] == nil, let coordinator = await make(state.id, session) else { continue }
            if !hasWindow { coordinator.detachWindow() }
            open[state.id] = coordinator
            keepUnsent(of: coordinator, in: state.id)
            coordinator.followRemovals()
            if let encryption = coordinator.encryption { verifications.follow(encryption, of: state.id) }
            restoreReplies(to: state.id, in: coordinator)
            if let rooms = awaitedWindows.removeValue(forKey: state.id) { coordinator.restoreWindows(of: rooms) }
            guard requestedID == state.id else { continue }
            // A user who has opened a room meanwhile stays there.
            if isOutdated(request) { requestedID = nil } else { display(state.id) }
        }
    }

    /// Keeps what was written in a room that is left before it is sent.
    private func keepUnsent(of coordinator: ConversationCoordinator, in account: String) {
        coordinator.onUnsent = { [unsentReplies] text, room in
            unsentReplies.keep(text, in: NotificationTarget(account: account, room: room))
        }
        coordinator.followUnsent()
    }

    private func trackConnecting(_ state: AccountState) {
        guard state.condition == .connecting else {
            waits.removeValue(forKey: state.id)?.cancel()
            slow.remove(state.id)
            return
        }
        guard waits[state.id] == nil else { return }
        let time = time
        waits[state.id] = Task { [weak self] in
            do { try await time.sleep(time.now() + Self.connectingTimeout) } catch { return }
            self?.slow.insert(state.id)
        }
    }
}
