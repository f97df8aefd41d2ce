public import ChatCore
public import Foundation
public import Observation

/// Searches the open room and steps through the matches, newest first.
@Observable
public final class RoomSearchViewModel: ViewModel {
    /// Exposes the properties of its ``SearchFieldState`` as its own.
    @dynamicMemberLookup
    public nonisolated struct State: Equatable, Sendable {
        public internal(set) var field = SearchFieldState()
        /// The terms to highlight in messages.
        public var terms = SearchTerms(terms: [])
        /// Newest first.
        public var matches: [MessageID] = []
        /// The index in ``matches`` of the match being shown.
        public var current: Int?

        public subscript<Value>(dynamicMember path: KeyPath<SearchFieldState, Value>) -> Value { field[keyPath: path] }

        /// Whether the search finished without a match.
        public var hasNoResults: Bool { matches.isEmpty && field.isAnswered }
        public var canStep: Bool { matches.count > 1 || current == nil && !matches.isEmpty }
        public var currentMessage: MessageID? { current.map { matches[$0] } }
    }

    public nonisolated enum Action: Equatable, Sendable {
        case field(SearchAction)
        /// Moves to the next older match, wrapping around to the newest.
        case stepOlder
        /// Moves to the next newer match, wrapping around to the oldest.
        case stepNewer
    }

    /// The number of matches loaded up front; further ones are loaded when stepped to.
    public static let counted = 1000
    private static let pageSize = 100

    public private(set) var state = State()
    @ObservationIgnored private let onShow: (MessageID) -> Void
    @ObservationIgnored private let roomID: RoomID
    @ObservationIgnored private let now: () -> Date
    @ObservationIgnored private lazy var search = RunningSearch(
        service: service, pageSize: Self.pageSize, onPage: { [weak self] page, _ in self?.receive(page) ?? false },
        onFailure: { [weak self] in self?.state.field.fail($0, $1) })
    @ObservationIgnored private let service: any SearchService
    /// The index of the match to show once it is loaded.
    @ObservationIgnored private var target: Int?

    /// - Parameter onShow: shows a match in the timeline.
    public init(
        roomID: RoomID, service: any SearchService, now: @escaping () -> Date = { Date() },
        onShow: @escaping (MessageID) -> Void = { _ in }
    ) {
        self.roomID = roomID
        self.service = service
        self.now = now
        self.onShow = onShow
    }

    public func send(_ action: Action) {
        switch action {
        case .field(let action):
            var field = state.field
            switch field.apply(action, now: now()) {
            case .start(let syntax): start(syntax, field)
            case .stop:
                search.stop()
                state = State(field: field)
            case nil: break
            }
        case .stepOlder: step(1)
        case .stepNewer: step(-1)
        }
    }

    // MARK: Searching

    private func start(_ syntax: SearchSyntax, _ field: SearchFieldState) {
        state = State(field: field, terms: SearchTerms(syntax.text))
        target = nil
        search.start(syntax, in: roomID, rooms: [])
    }

    /// - Returns: whether to load the next page immediately.
    private func receive(_ page: MessageSearch.Page) -> Bool {
        let isFirst = state.matches.isEmpty
        state.matches += page.messages.map(\.id)
        state.field.hasMore = page.hasMore
        if isFirst, !state.matches.isEmpty { show(0) }
        guard !state.hasMore || state.matches.count >= target.map({ $0 + 1 }) ?? Self.counted else { return true }
        state.field.succeed()
        if let target, state.matches.indices.contains(target) { show(target) }
        target = nil
        return false
    }

    // MARK: Stepping

    private func step(_ offset: Int) {
        guard state.isOpen, !state.matches.isEmpty else { return }
        let next = (state.current ?? -1) + offset
        if next >= state.matches.count, state.hasMore { return readOn(to: next) }
        // A match that is still being loaded must not replace this one.
        target = nil
        show((next + state.matches.count) % state.matches.count)
    }

    private func show(_ index: Int) {
        state.current = index
        onShow(state.matches[index])
    }

    private func readOn(to index: Int) {
        guard !state.isSearching else { return }
        target = index
        state.field.isSearching = search.readOn()
    }
}
