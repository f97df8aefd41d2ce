public import ChatCore
public import Foundation
public import Observation

/// Searches the open room and steps through the matches, newest first.
@Observable
public final class RoomSearchViewModel: ViewModel {
    public nonisolated struct State: Equatable, Sendable {
        public var isOpen = false
        public var text = ""
        /// The terms to highlight in messages.
        public var terms = SearchTerms(terms: [])
        /// Why the query is invalid.
        public var problems: [SearchSyntax.Problem] = []
        /// The error of a failed search.
        public var error: ChatError?
        /// Newest first.
        public var matches: [MessageID] = []
        /// The index in ``matches`` of the match being shown.
        public var current: Int?
        /// Whether more matches can be loaded.
        public var hasMore = false
        public var isSearching = false

        /// Whether the search finished without a match.
        public var hasNoResults: Bool {
            matches.isEmpty && !isSearching && error == nil && problems.isEmpty && !SearchSyntax(text).isEmpty
        }
        public var canStep: Bool { matches.count > 1 || current == nil && !matches.isEmpty }
        public var currentMessage: MessageID? { current.map { matches[$0] } }
    }

    public nonisolated enum Action: Equatable, Sendable {
        /// Opens the search with the previous query.
        case open
        case close
        case type(String)
        /// Moves to the next older match, wrapping around to the newest.
        case stepOlder
        /// Moves to the next newer match, wrapping around to the oldest.
        case stepNewer
    }

    public nonisolated enum Output: Equatable, Sendable {
        case show(MessageID)
        case closed
    }

    /// The number of matches loaded up front; further ones are loaded when stepped to.
    public static let counted = 1000
    private static let pageSize = 100

    public private(set) var state = State()
    @ObservationIgnored public var onOutput: ((Output) -> Void)?
    @ObservationIgnored private let roomID: RoomID
    @ObservationIgnored private let now: () -> Date
    @ObservationIgnored private let search: RunningSearch
    /// The index of the match to show once it is loaded.
    @ObservationIgnored private var target: Int?

    public init(roomID: RoomID, service: any SearchService, now: @escaping () -> Date = { Date() }) {
        self.roomID = roomID
        self.now = now
        search = RunningSearch(service: service, pageSize: Self.pageSize)
        search.onPage = { [weak self] page, _ in self?.receive(page) ?? false }
        search.onFailure = { [weak self] problems, error in
            guard let self else { return }
            var next = state
            (next.isSearching, next.problems, next.error) = (false, problems, error)
            state = next
        }
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
        case .stepOlder: step(1)
        case .stepNewer: step(-1)
        }
    }

    // MARK: Searching

    private func start(_ text: String) {
        let syntax = SearchSyntax(text, now: now())
        var next = State(isOpen: true, text: text)
        next.terms = SearchTerms(syntax.text)
        next.problems = syntax.problems
        // While this is set, the view keeps the previous count, which would otherwise flicker on every key press.
        next.isSearching = RunningSearch.isSearchable(syntax)
        state = next
        target = nil
        search.start(syntax, in: roomID, rooms: [])
    }

    /// - Returns: whether to load the next page immediately.
    private func receive(_ page: MessageSearch.Page) -> Bool {
        let isFirst = state.matches.isEmpty
        state.matches += page.messages.map(\.id)
        state.hasMore = page.hasMore
        if isFirst, !state.matches.isEmpty { show(0) }
        guard !state.hasMore || state.matches.count >= target.map({ $0 + 1 }) ?? Self.counted else { return true }
        state.isSearching = false
        if let target, state.matches.indices.contains(target) { show(target) }
        target = nil
        return false
    }

    // MARK: Stepping

    private func step(_ offset: Int) {
        guard state.isOpen, !state.matches.isEmpty else { return }
        let next = (state.current ?? -1) + offset
        if next >= state.matches.count, state.hasMore { return readOn(to: next) }
        show((next + state.matches.count) % state.matches.count)
    }

    private func show(_ index: Int) {
        state.current = index
        onOutput?(.show(state.matches[index]))
    }

    private func readOn(to index: Int) {
        guard !state.isSearching else { return }
        target = index
        state.isSearching = search.readOn()
    }
}
