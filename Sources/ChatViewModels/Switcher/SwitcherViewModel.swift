public import ChatCore
public import Observation

/// Opens a room or direct chat of any account by part of its name.
@Observable
public final class SwitcherViewModel: ViewModel {
    public nonisolated struct Row: Identifiable, Equatable, Sendable {
        public nonisolated struct ID: Hashable, Sendable {
            public let account: String
            public let room: RoomID
        }

        public let id: ID
        public var room: RoomListViewModel.Row
    }

    public nonisolated struct State: Equatable, Sendable {
        public var query = ""
        /// The best matches, or without a query the unread rooms and then the most recently active ones.
        public var rows: [Row] = []
        /// The index of the row that Return opens.
        public var selection: Int?
        /// The room that was chosen and is being opened. The dialog closes.
        public fileprivate(set) var chosen: AccountRoom?

        /// Whether no name matches the query.
        public var hasNoMatches: Bool { rows.isEmpty && !query.allSatisfy(\.isWhitespace) }
    }

    public nonisolated enum Action: Equatable, Sendable {
        case type(String)
        /// Moves the selection by an offset, stopping at the ends.
        case move(Int)
        case select(Int)
        /// Opens the selected row, or the best match once the rooms can be searched.
        case choose
        /// Opens a row.
        case open(Int)
    }

    /// The maximum number of rows: more than anyone reads, and few enough to lay out at once.
    public nonisolated static let maxRows = 50

    public private(set) var state = State()
    @ObservationIgnored private let rooms: SwitcherRooms
    @ObservationIgnored private let onChoose: (Row.ID) -> Void
    /// `nil` until it is built.
    @ObservationIgnored private var finder: RoomFinder?
    @ObservationIgnored private var building: Task<Void, Never>?
    /// What had been typed when ``Action/choose`` came before the finder was built.
    @ObservationIgnored private var awaited: String?

    /// - Parameters:
    ///   - rooms: the rooms and invitations of all accounts.
    ///   - onChoose: opens a room.
    init(_ rooms: SwitcherRooms, onChoose: @escaping (Row.ID) -> Void) {
        self.rooms = rooms
        self.onChoose = onChoose
        show(rooms.suggestions(atMost: Self.maxRows))
    }

    isolated deinit { building?.cancel() }

    public func send(_ action: Action) {
        switch action {
        case .type(let query): type(query)
        case .move(let offset):
            guard !state.rows.isEmpty else { return }
            let next = state.selection.map { $0 + offset } ?? 0
            state.selection = min(max(next, 0), state.rows.count - 1)
        case .select(let index): if state.rows.indices.contains(index) { state.selection = index }
        case .choose:
            // The rows are those from before anything was typed.
            if building != nil, finder == nil, !state.query.allSatisfy(\.isWhitespace) {
                awaited = state.query
            } else if let selection = state.selection {
                open(selection)
            }
        case .open(let index): open(index)
        }
    }

    private func type(_ query: String) {
        guard query != state.query else { return }
        state.query = query
        guard !query.allSatisfy(\.isWhitespace) else {
            return show(rooms.suggestions(atMost: Self.maxRows))
        }
        if let finder { return show(finder.matches(of: query)) }
        guard building == nil else { return }
        building = Task { [weak self, rooms] in
            let finder = await RoomFinder.over(rooms)
            guard let self, !Task.isCancelled else { return }
            self.finder = finder
            if let awaited { show(finder.matches(of: awaited)) }
            if awaited != nil, let selection = state.selection { return open(selection) }
            if !state.query.allSatisfy(\.isWhitespace) { show(finder.matches(of: state.query)) }
        }
    }

    private func open(_ index: Int) {
        guard state.chosen == nil, state.rows.indices.contains(index) else { return }
        let id = state.rows[index].id
        state.chosen = AccountRoom(id.account, id.room)
        onChoose(id)
    }

    private func show(_ rows: [Row]) {
        state.rows = rows
        state.selection = rows.isEmpty ? nil : 0
    }
}

extension AccountsCoordinator {
    /// Returns a view model over the current rooms.
    public func switcher() -> SwitcherViewModel {
        SwitcherViewModel(switcherRooms) { [weak self] id in self?.show(id) }
    }

    /// Shows a room of any account.
    func show(_ id: SwitcherViewModel.Row.ID) {
        if !hasWindow(of: AccountRoom(id.account, id.room)) { select(id.account) }
        coordinator(of: id.account)?.show(nil, in: id.room)
    }

    /// The rooms and invitations of all open accounts.
    var switcherRooms: SwitcherRooms {
        let names = accountNames
        return SwitcherRooms(
            coordinatorIDs.flatMap { account -> [SwitcherRooms.List] in
                guard let state = coordinator(of: account)?.rooms.state else { return [] }
                let name = names.count > 1 ? names[account].flatMap { $0.isEmpty ? nil : $0 } : nil
                return [state.invitationRows, state.rows].map {
                    SwitcherRooms.List(account: account, accountName: name, rooms: $0)
                }
            })
    }
}
