public import ChatCore
public import ComposerSessions
public import Foundation
public import Observation

/// Searches messages in all rooms.
@Observable
public final class SearchViewModel: ViewModel {
    /// Exposes the properties of its ``SearchFieldState`` as its own.
    @dynamicMemberLookup
    public nonisolated struct State: Equatable, Sendable {
        public internal(set) var field = SearchFieldState()
        /// Newest first.
        public var results: [SearchResult] = []
        /// Whether ``results`` are those of the text rather than of an earlier query.
        public var isCurrent = true

        public subscript<Value>(dynamicMember path: KeyPath<SearchFieldState, Value>) -> Value { field[keyPath: path] }

        /// Whether the search finished without a result.
        public var hasNoResults: Bool { results.isEmpty && field.isAnswered }
        /// Whether the search has failed, or the last request for further results.
        public var canRetry: Bool { field.error != nil }
    }

    public nonisolated enum Action: Equatable, Sendable {
        case field(SearchAction)
        /// The view has scrolled close to the end of the results.
        case loadMore
        /// Repeats what has failed.
        case retry
        case choose(SearchResult.ID)
    }

    private static let pageSize = 50
    /// How long scrolling requests nothing after a failure: the view asks at each step of a scroll.
    static let retryDelay = PageRequest.retryDelay

    public private(set) var state = State()
    @ObservationIgnored private let onShow: (SearchResult.ID) -> Void
    @ObservationIgnored private let rooms: () -> [RoomListViewModel.Row]
    @ObservationIgnored private let now: () -> Date
    @ObservationIgnored private let readsPlainTexts: Bool
    @ObservationIgnored private let time: Timekeeper
    /// From when on scrolling may request further results again, which could not be loaded.
    @ObservationIgnored private var retryTime: Duration?
    @ObservationIgnored private let service: any SearchService
    @ObservationIgnored private lazy var search = RunningSearch(
        service: service, pageSize: Self.pageSize,
        onPage: { [weak self] page, terms in
            self?.receive(page, terms)
            return false
        }, onFailure: { [weak self] in self?.fail($0, $1) })

    /// - Parameters:
    ///   - readsPlainTexts: see ``BackendCapabilities/plainTexts``.
    ///   - rooms: returns the current rooms.
    ///   - onShow: opens the room of a result, at its message.
    public init(
        service: any SearchService, readsPlainTexts: Bool = false, time: Timekeeper = .continuous,
        now: @escaping () -> Date = { Date() },
        rooms: @escaping () -> [RoomListViewModel.Row], onShow: @escaping (SearchResult.ID) -> Void = { _ in }
    ) {
        self.service = service
        self.rooms = rooms
        self.time = time
        self.now = now
        self.readsPlainTexts = readsPlainTexts
        self.onShow = onShow
    }

    public func send(_ action: Action) {
        var field = state.field
        switch action {
        case .field(let action): perform(field.apply(action, now: now()), field)
        case .loadMore: if retryTime.map({ $0 <= time.now() }) ?? true { readOn() }
        // Further results, as the first ones are there.
        case .retry where state.hasMore: readOn()
        case .retry: perform(field.retry(now: now()), field)
        case .choose(let id): if state.results.contains(where: { $0.id == id }) { onShow(id) }
        }
    }

    private func perform(_ step: SearchFieldState.Step?, _ field: SearchFieldState) {
        switch step {
        case .start(let syntax): start(syntax, field)
        case .stop:
            search.stop()
            state = State(field: field)
        case nil: break
        }
    }

    private func start(_ syntax: SearchSyntax, _ field: SearchFieldState) {
        retryTime = nil
        // Keep the previous results until new ones arrive, or the list would flicker on every key press.
        state = State(
            field: field, results: field.isSearching ? state.results : [], isCurrent: !field.isSearching)
        search.start(syntax, in: nil, rooms: rooms().map { (id: $0.id, name: $0.name) })
    }

    private func readOn() {
        guard state.hasMore, !state.isSearching else { return }
        retryTime = nil
        state.field.isSearching = search.readOn()
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
        next.field.hasMore = page.hasMore
        next.field.succeed()
        state = next
    }

    private func fail(_ problems: [SearchSyntax.Problem], _ error: ChatError?) {
        var next = state
        retryTime = time.now() + Self.retryDelay
        // If only further results cannot be loaded, those that are shown stay, and scrolling tries again later.
        if !next.isCurrent { (next.results, next.isCurrent, next.field.hasMore) = ([], true, false) }
        next.field.fail(problems, error)
        state = next
    }
}
