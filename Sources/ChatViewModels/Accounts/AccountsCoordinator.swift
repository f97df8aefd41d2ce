public import ChatCore
public import Observation

/// The accounts of a window, one of which is shown.
///
/// Room IDs may coincide between accounts, so each has a ``ConversationCoordinator`` of its own.
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
        public var unreadCount: Int
        public var isSelected: Bool

        public var isLocal: Bool { account == nil }
        /// Whether its store could be opened.
        public var isOpen: Bool { if case .broken = condition { false } else { true } }
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
    /// Called when another account is selected.
    @ObservationIgnored public var onSelect: ((String) -> Void)?

    /// The user's writing preferences, for all accounts.
    @ObservationIgnored public var preferences = WritingPreferences() {
        didSet { for coordinator in [local] + open.values { coordinator.preferences = preferences } }
    }

    @ObservationIgnored public let local: ConversationCoordinator
    @ObservationIgnored public let service: (any SignInService & AccountService)?
    private var states: [AccountState] = []
    private var open: [String: ConversationCoordinator] = [:]
    /// Accounts that have been connecting longer than ``connectingTimeout``.
    private var slow: Set<String> = []
    @ObservationIgnored private let make: (String) async -> ConversationCoordinator?
    @ObservationIgnored private let time: Timekeeper
    @ObservationIgnored private var hasStarted = false
    @ObservationIgnored private var listening: Task<Void, Never>?
    @ObservationIgnored private var waits: [String: Task<Void, Never>] = [:]
    /// The account to select once it is open.
    private var requestedID: String?
    /// Whether the requested account is not open yet.
    public var isWaiting: Bool { requestedID != nil }

    private static let connectingTimeout = Duration.seconds(3)

    /// - Parameters:
    ///   - service: signs in and observes accounts; `nil` for local conversations only.
    ///   - make: returns an account's coordinator, or `nil` while the account cannot be opened.
    public init(
        local: ConversationCoordinator, service: (any SignInService & AccountService)? = nil,
        time: Timekeeper = .continuous, make: @escaping (String) async -> ConversationCoordinator? = { _ in nil }
    ) {
        self.local = local
        self.service = service
        self.time = time
        self.make = make
    }

    isolated deinit {
        listening?.cancel()
        for wait in waits.values { wait.cancel() }
    }

    /// Subscribes to the accounts, and selects one once it is open.
    public func start(showing account: String) {
        guard listening == nil, let service else { return }
        requestedID = account == Self.localID ? nil : account
        let stream = service.accountStates()
        listening = Task { [weak self] in
            for await states in stream { await self?.apply(states) }
        }
    }

    /// Returns when the requested account is shown with its rooms, or after `limit`.
    public func waitUntilIdle(within limit: Duration) async {
        let end = time.now() + limit
        await time.wait(atMost: limit) { [weak self] in self?.isWaiting != true }
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
                    unreadCount: open[state.id]?.rooms.state.unreadTotal ?? 0, isSelected: selection == state.id)
            }
    }

    public var selectedRow: Row { rows.first { $0.isSelected } ?? rows[0] }
    /// Whether an account other than the selected one has unread messages.
    public var hasUnreadElsewhere: Bool { rows.contains { !$0.isSelected && $0.unreadCount > 0 } }

    /// The banner of the selected account, or `nil` if it needs none.
    public var banner: Banner? {
        switch selectedRow.condition {
        case .online, .broken: nil
        case .connecting: slow.contains(selection) ? .connecting : nil
        case .offline: .offline
        case .untrusted(let certificate): .untrusted(certificate)
        case .signedOut(let isSoft): .signedOut(isSoft: isSoft)
        case .locked(let error): .locked(error)
        }
    }

    /// The first account whose server resolves room addresses and user IDs.
    public var firstAccountAcceptingAddresses: String? {
        states.first { open[$0.id]?.acceptsAddresses == true }?.id
    }

    // MARK: Actions

    /// Selects an account once it is open.
    public func select(_ account: String) {
        guard account == Self.localID || open[account] != nil else {
            requestedID = account
            return
        }
        requestedID = nil
        guard account != selection else { return }
        selection = account
        onSelect?(account)
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

    /// Returns the number of unsent items that signing out would lose, or `nil` if it cannot be determined.
    public func pendingCount(of account: String) async -> PendingCount? {
        await open[account]?.flushDrafts()
        return try? await service?.pendingCount(of: account)
    }

    /// - Returns: why the account was not signed out, or `nil` on success.
    public func logOut(_ account: String, isForced: Bool) async -> SignInProblem? {
        do {
            try await service?.logOut(account, isForced: isForced)
            return nil
        } catch {
            return error as? SignInProblem ?? .storage(reason: "\(type(of: error))")
        }
    }

    /// Returns the view model of the sign-in dialog, or `nil` if accounts are not supported.
    public func signIn(again account: Account? = nil) -> SignInViewModel? {
        guard let service else { return nil }
        return SignInViewModel(service: service, again: account)
    }

    /// Stores the drafts and scroll positions of all accounts.
    public func flushDrafts() async {
        await local.flushDrafts()
        for coordinator in open.values { await coordinator.flushDrafts() }
    }

    // MARK: Service updates

    private func apply(_ states: [AccountState]) async {
        let ids = Set(states.map(\.id))
        // The account shown last may have been removed since.
        if !hasStarted, let missing = requestedID, !ids.contains(missing) { requestedID = nil }
        hasStarted = true
        self.states = states
        for id in open.keys where !ids.contains(id) {
            if selection == id { select(Self.localID) }
            open[id] = nil
        }
        for state in states {
            trackConnecting(state)
            // An account whose store failed to open has no rooms to show.
            if case .broken = state.condition { continue }
            defer { open[state.id]?.isSignedOut = state.condition.needsSignIn }
            guard open[state.id] == nil, let coordinator = await make(state.id) else { continue }
            open[state.id] = coordinator
            if requestedID == state.id { select(state.id) }
        }
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
            try? await time.sleep(time.now() + Self.connectingTimeout)
            if !Task.isCancelled { self?.slow.insert(state.id) }
        }
    }
}
