public import ChatCore
public import Observation

/// The accounts of a window: each with conversations of its own, one of them shown.
///
/// Rooms of two accounts may have one identifier: they never meet, as each account has a ``ConversationCoordinator``.
@Observable
@MainActor
public final class AccountsCoordinator {
    /// What the window shows of an account.
    public nonisolated struct Row: Identifiable, Equatable, Sendable {
        public let id: String
        /// Empty for what is on this computer: the view names it.
        public var name: String
        /// Nil for what is on this computer.
        public var account: Account?
        public var condition: AccountCondition
        public var unreadCount: Int
        public var isSelected: Bool

        public var isLocal: Bool { account == nil }
        /// Whether its rooms can be shown.
        public var isOpen: Bool { if case .broken = condition { false } else { true } }
    }

    /// What stands over the rooms of an account that does not talk to its server.
    public nonisolated enum Banner: Equatable, Sendable {
        case connecting
        case offline
        case untrusted(SignInProblem.Certificate)
        case signedOut(isSoft: Bool)
        case locked(CredentialStoreError)
    }

    /// Under which conversations on this computer are in the list.
    public static nonisolated let localID = ""

    /// The account that is shown.
    public private(set) var selection = AccountsCoordinator.localID
    public var conversations: ConversationCoordinator { open[selection] ?? local }
    /// Another account is shown.
    @ObservationIgnored public var onSelect: ((String) -> Void)?

    /// What the user chose about writing, in all accounts.
    @ObservationIgnored public var preferences = WritingPreferences() {
        didSet { for coordinator in [local] + open.values { coordinator.preferences = preferences } }
    }

    @ObservationIgnored public let local: ConversationCoordinator
    @ObservationIgnored public let service: (any SignInService & AccountService)?
    private var states: [AccountState] = []
    private var open: [String: ConversationCoordinator] = [:]
    /// Accounts that have been connecting for longer than one waits without asking why.
    private var slow: Set<String> = []
    @ObservationIgnored private let make: (String) async -> ConversationCoordinator?
    @ObservationIgnored private let time: Timekeeper
    @ObservationIgnored private var hasStarted = false
    @ObservationIgnored private var listening: Task<Void, Never>?
    @ObservationIgnored private var waits: [String: Task<Void, Never>] = [:]
    /// To be shown as soon as it is there.
    private var requestedID: String?
    /// Whether another account than the one that is shown is the one that was asked for.
    public var isWaiting: Bool { requestedID != nil }

    private static let connectingTimeout = Duration.seconds(3)

    /// - Parameters:
    ///   - service: nil where there are no other accounts than the one on this computer.
    ///   - make: a coordinator over what an account offers; nil while that is not there.
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

    /// Begins to follow the accounts, and shows one as soon as it is there.
    public func start(showing account: String) {
        guard listening == nil, let service else { return }
        requestedID = account == Self.localID ? nil : account
        let stream = service.accountStates()
        listening = Task { [weak self] in
            for await states in stream { await self?.apply(states) }
        }
    }

    /// Returns when the account that was asked for is shown with its rooms, or after `limit`.
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
    /// Whether anything is unread in an account that is not shown.
    public var hasUnreadElsewhere: Bool { rows.contains { !$0.isSelected && $0.unreadCount > 0 } }

    /// nil while there is nothing to say.
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

    /// An account at whose server rooms and users can be asked for.
    public var firstAccountAcceptingAddresses: String? {
        states.first { open[$0.id]?.acceptsAddresses == true }?.id
    }

    // MARK: Actions

    /// Shows an account, as soon as it is there.
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

    /// The computer slept, or is in another network.
    public func reconnect() {
        guard let service else { return }
        Task { await service.reconnect() }
    }

    /// What would be lost with the account; nil if that cannot be told.
    public func pendingCount(of account: String) async -> PendingCount? {
        await open[account]?.flushDrafts()
        return try? await service?.pendingCount(of: account)
    }

    /// - Returns: why nothing was changed; nil if the account is gone.
    public func logOut(_ account: String, isForced: Bool) async -> SignInProblem? {
        do {
            try await service?.logOut(account, isForced: isForced)
            return nil
        } catch {
            return error as? SignInProblem ?? .storage(reason: "\(type(of: error))")
        }
    }

    /// View model of a dialog that adds an account, or signs one in again; nil where there are no accounts.
    public func signIn(again account: Account? = nil) -> SignInViewModel? {
        guard let service else { return nil }
        return SignInViewModel(service: service, again: account)
    }

    /// Writes the drafts of all accounts, and where the user reads.
    public func flushDrafts() async {
        await local.flushDrafts()
        for coordinator in open.values { await coordinator.flushDrafts() }
    }

    // MARK: What the service tells

    private func apply(_ states: [AccountState]) async {
        let ids = Set(states.map(\.id))
        // One that was shown last and is gone since.
        if !hasStarted, let missing = requestedID, !ids.contains(missing) { requestedID = nil }
        hasStarted = true
        self.states = states
        for id in open.keys where !ids.contains(id) {
            if selection == id { select(Self.localID) }
            open[id] = nil
        }
        for state in states {
            trackConnecting(state)
            // Of one that could not be opened there is nothing to show.
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
