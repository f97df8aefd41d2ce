public import ChatCore
public import Foundation
public import Observation

/// Looks for messages in all rooms.
@Observable
public final class SearchViewModel: ViewModel {
    public nonisolated struct State: Equatable, Sendable {
        public var isOpen = false
        public var text = ""
        public var problems: [SearchSyntax.Problem] = []
        public var error: ChatError?
        /// The latest first.
        public var results: [SearchResult] = []
        /// Whether there are more than those.
        public var hasMore = false
        public var isSearching = false
        /// Whether ``results`` are those of ``text``, not of what was typed before.
        public var isCurrent = true

        public var isFruitless: Bool {
            results.isEmpty && !isSearching && error == nil && problems.isEmpty && !isUnasked
        }
        /// Whether nothing is asked for.
        public var isUnasked: Bool { SearchSyntax(text).isEmpty }
    }

    public nonisolated enum Action: Equatable, Sendable {
        case open
        case close
        case type(String)
        /// The end of the results is near what is seen.
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
    @ObservationIgnored private let service: any SearchService
    @ObservationIgnored private let rooms: () -> [RoomListViewModel.Row]
    @ObservationIgnored private let now: () -> Date
    @ObservationIgnored private var search: MessageSearch?
    @ObservationIgnored private var running: Task<Void, Never>?
    @ObservationIgnored private var generation = 0

    /// - Parameter rooms: the rooms as they are now.
    public init(
        service: any SearchService, now: @escaping () -> Date = { Date() },
        rooms: @escaping () -> [RoomListViewModel.Row]
    ) {
        self.service = service
        self.rooms = rooms
        self.now = now
    }

    isolated deinit { running?.cancel() }

    public func send(_ action: Action) {
        switch action {
        case .open:
            guard !state.isOpen else { return }
            state.isOpen = true
            start(state.text)
        case .close:
            guard state.isOpen else { return }
            stop()
            state = State(text: state.text)
            onOutput?(.closed)
        case .type(let text):
            guard state.isOpen, text != state.text else { return }
            start(text)
        case .loadMore: readOn()
        case .choose(let id): if state.results.contains(where: { $0.id == id }) { onOutput?(.show(id)) }
        }
    }

    private func stop() {
        generation += 1
        running?.cancel()
        running = nil
        search = nil
    }

    private func start(_ text: String) {
        stop()
        let syntax = SearchSyntax(text, now: now())
        var next = State(isOpen: true, text: text, problems: syntax.problems)
        next.isSearching = !syntax.isEmpty && syntax.problems.isEmpty
        // The list of before stays until the next one is there: an empty one between would flicker with each key.
        if next.isSearching { next.results = state.results }
        next.isCurrent = !next.isSearching
        state = next
        guard next.isSearching else { return }
        let rooms = rooms().map { (id: $0.id, name: $0.name) }
        running = Task { [weak self, generation, service] in
            do {
                let search = try await MessageSearch(syntax, in: nil, rooms: rooms, service: service)
                await self?.run(search, generation)
            } catch {
                self?.fail(error, generation)
            }
        }
    }

    private func readOn() {
        guard state.hasMore, !state.isSearching, let search else { return }
        state.isSearching = true
        running = Task { [weak self, generation] in await self?.run(search, generation) }
    }

    private func run(_ search: MessageSearch, _ generation: Int) async {
        var search = search
        do {
            let page = try await search.next(limit: Self.pageSize)
            guard self.generation == generation else { return }
            self.search = search
            receive(page, search.terms)
        } catch {
            fail(error, generation)
        }
    }

    private func receive(_ page: MessageSearch.Page, _ terms: SearchTerms) {
        var next = state
        let names = Dictionary(rooms().map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
        let found = page.messages.map { message in
            SearchResult(
                message, roomName: names[message.roomID] ?? message.roomID.rawValue,
                sender: page.senders[message.sender], terms: terms, now: now())
        }
        next.results = (next.isCurrent ? next.results : []) + found
        next.isCurrent = true
        next.hasMore = page.hasMore
        next.isSearching = false
        state = next
    }

    private func fail(_ error: any Error, _ generation: Int) {
        guard self.generation == generation, !(error is CancellationError) else { return }
        state.results = []
        state.isCurrent = true
        state.isSearching = false
        state.hasMore = false
        if let refusal = error as? MessageSearch.Refusal {
            state.problems = refusal.problems
        } else {
            state.error = ChatError(error)
        }
    }
}
