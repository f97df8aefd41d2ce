public import ChatCore
public import Foundation
public import Observation

/// Searches messages in all rooms.
@Observable
public final class SearchViewModel: ViewModel {
    public nonisolated struct State: Equatable, Sendable {
        public var isOpen = false
        public var text = ""
        public var problems: [SearchSyntax.Problem] = []
        public var error: ChatError?
        /// Newest first.
        public var results: [SearchResult] = []
        /// Whether more results can be loaded.
        public var hasMore = false
        public var isSearching = false
        /// Whether ``results`` match ``text`` rather than an earlier query.
        public var isCurrent = true

        public var hasNoResults: Bool {
            results.isEmpty && !isSearching && error == nil && problems.isEmpty && !isUnasked
        }
        /// Whether the query is empty.
        public var isUnasked: Bool { SearchSyntax(text).isEmpty }
    }

    public nonisolated enum Action: Equatable, Sendable {
        case open
        case close
        case type(String)
        /// The view has scrolled close to the end of the results.
        case loadMore
        case choose(SearchResult.ID)
    }

    public nonisolated enum Output: Equatable, Sendable {
        case show(SearchResult.ID)
        case closed
    }

    private static let pageSize = 50

    public private(set) var state = State()
    @ObservationIgnored public var onOutput: ((Output) -> Void)?
    @ObservationIgnored private let rooms: () -> [RoomListViewModel.Row]
    @ObservationIgnored private let now: () -> Date
    @ObservationIgnored private let readsPlainTexts: Bool
    @ObservationIgnored private let search: RunningSearch

    /// - Parameters:
    ///   - readsPlainTexts: see ``BackendCapabilities/plainTexts``.
    ///   - rooms: returns the current rooms.
    public init(
        service: any SearchService, readsPlainTexts: Bool = false, now: @escaping () -> Date = { Date() },
        rooms: @escaping () -> [RoomListViewModel.Row]
    ) {
        self.rooms = rooms
        self.now = now
        self.readsPlainTexts = readsPlainTexts
        search = RunningSearch(service: service, pageSize: Self.pageSize)
        search.onPage = { [weak self] page, terms in
            self?.receive(page, terms)
            return false
        }
        search.onFailure = { [weak self] problems, error in self?.fail(problems, error) }
    }

    public func send(_ action: Action) {
        switch action {
        case .open:
            guard !state.isOpen else { return }
            state.isOpen = true
            start(state.text)
        case .close:
            guard state.isOpen else { return }
            search.stop()
            state = State(text: state.text)
            onOutput?(.closed)
        case .type(let text):
            guard state.isOpen, text != state.text else { return }
            start(text)
        case .loadMore: readOn()
        case .choose(let id): if state.results.contains(where: { $0.id == id }) { onOutput?(.show(id)) }
        }
    }

    private func start(_ text: String) {
        let syntax = SearchSyntax(text, now: now())
        var next = State(isOpen: true, text: text, problems: syntax.problems)
        next.isSearching = RunningSearch.isSearchable(syntax)
        // Keep the previous results until new ones arrive, or the list would flicker on every key press.
        if next.isSearching { next.results = state.results }
        next.isCurrent = !next.isSearching
        state = next
        search.start(syntax, in: nil, rooms: rooms().map { (id: $0.id, name: $0.name) })
    }

    private func readOn() {
        guard state.hasMore, !state.isSearching else { return }
        state.isSearching = search.readOn()
    }

    private func receive(_ page: MessageSearch.Page, _ terms: SearchTerms) {
        var next = state
        let names = Dictionary(rooms().map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
        let found = page.messages.map { message in
            SearchResult(
                message, roomName: names[message.roomID] ?? message.roomID.rawValue,
                sender: page.senders[message.sender], terms: terms, readsPlainTexts: readsPlainTexts, now: now())
        }
        next.results = (next.isCurrent ? next.results : []) + found
        next.isCurrent = true
        next.hasMore = page.hasMore
        next.isSearching = false
        state = next
    }

    private func fail(_ problems: [SearchSyntax.Problem], _ error: ChatError?) {
        var next = state
        (next.results, next.isCurrent, next.isSearching, next.hasMore) = ([], true, false, false)
        next.problems = problems
        next.error = error
        state = next
    }
}
