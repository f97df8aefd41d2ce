public import ChatCore
public import Observation

/// Searches the user directory and collects the users selected.
@Observable
public final class UserSearchViewModel: ViewModel {
    public nonisolated struct State: Equatable, Sendable {
        /// The text of the search field.
        public var text = ""
        /// What is searched for: the text without white space around it.
        public var query = ""
        /// The results of the query, or of the previous one while searching.
        public var found: [User] = []
        /// In the order of selection.
        public var chosen: [User] = []
        public var isSearching = false
        /// Why the search failed.
        public var error: ChatError?

        /// Whether to show that nobody was found.
        public var isEmpty: Bool { found.isEmpty && !isSearching && error == nil && !query.isEmpty }
        /// Whether Backspace removes the user chosen last, as is usual in token fields.
        public var canRemoveLast: Bool { text.isEmpty && !chosen.isEmpty }
        public func isChosen(_ user: User) -> Bool { chosen.contains { $0.id == user.id } }
    }

    public nonisolated enum Action: Equatable, Sendable {
        case search(String)
        /// Selects or deselects a user.
        case toggle(User)
        /// Toggles a result, and clears the field for the next name.
        case choose(User)
        /// Chooses the first result for the current text; waits for it while a search is running.
        case chooseFirst
        case removeLast
    }

    public private(set) var state = State()
    @ObservationIgnored private let service: any RoomMembersService
    /// Users not to offer, such as members.
    @ObservationIgnored private var excluded: Set<MemberID>
    @ObservationIgnored private var searching: Task<Void, Never>?
    /// Whether to choose the first result once the search has finished.
    @ObservationIgnored private var choosesFirst = false

    public init(service: any RoomMembersService, excluding excluded: Set<MemberID> = []) {
        self.service = service
        self.excluded = excluded
    }

    isolated deinit { searching?.cancel() }

    public func send(_ action: Action) {
        switch action {
        case .search(let text): search(text)
        case .toggle(let user): toggle(user)
        case .choose(let user): choose(user)
        case .chooseFirst: if state.isSearching { choosesFirst = true } else { chooseFirst() }
        case .removeLast: if !state.chosen.isEmpty { state.chosen.removeLast() }
        }
    }

    /// Returns once the user is chosen whom ``Action/chooseFirst`` waits for, if any is found.
    func waitForChoice() async {
        if choosesFirst { await searching?.value }
    }

    /// Removes users who have been invited, and no longer offers them.
    func exclude(_ users: Set<MemberID>) {
        excluded.formUnion(users)
        state.chosen.removeAll { users.contains($0.id) }
        state.found.removeAll { users.contains($0.id) }
    }

    private func toggle(_ user: User) {
        if let index = state.chosen.firstIndex(where: { $0.id == user.id }) {
            state.chosen.remove(at: index)
        } else if !excluded.contains(user.id) {
            state.chosen.append(user)
        }
    }

    private func choose(_ user: User) {
        toggle(user)
        search("")
    }

    private func chooseFirst() {
        if let first = state.found.first { choose(first) }
    }

    private func search(_ text: String) {
        choosesFirst = false
        if text != state.text { state.text = text }
        let query = String(text.prefix(200)).trimmed
        guard query != state.query else { return }
        state.query = query
        state.error = nil
        guard !query.isEmpty else {
            state.found = []
            return
        }
        guard searching == nil else { return }
        state.isSearching = true
        searching = Task { [weak self] in await self?.searchOn() }
    }

    /// Sends one request at a time, and the last one for the latest query.
    private func searchOn() async {
        var searchedQuery: String?
        while !Task.isCancelled, !state.query.isEmpty, searchedQuery != state.query {
            let query = state.query
            searchedQuery = query
            do {
                let users = try await service.users(matching: query)
                guard !state.query.isEmpty else { break }
                state.found = Self.offered(users, for: query).filter { !excluded.contains($0.id) }
            } catch {
                guard query == state.query else { continue }
                // A complete Matrix ID can be invited without a search.
                state.found = Self.offered([], for: query).filter { !excluded.contains($0.id) }
                state.error = state.found.isEmpty ? ChatError(error) : nil
            }
        }
        if state.query.isEmpty { state.found = [] }
        state.isSearching = false
        searching = nil
        guard choosesFirst else { return }
        choosesFirst = false
        chooseFirst()
    }

    /// Offers a complete Matrix ID even if the directory does not list the user.
    private static func offered(_ users: [User], for query: String) -> [User] {
        guard case .user(let id)? = ChatAddress(query), !users.contains(where: { $0.id.rawValue == id }) else {
            return users
        }
        return [User(id: MemberID(id))] + users
    }
}

nonisolated extension String {
    fileprivate var trimmed: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
