/// The state transitions of an open completion: HKW-42 as a table. Caret movement and deletion additionally close it
/// if no token is left.
enum CreationRule {
    enum Event: Hashable {
        case written
        /// White space was typed; `afterNothing` is set if nothing precedes it.
        case blankWritten(afterNothing: Bool)
        /// The final response arrived; whether it is empty, and whether the query ends with white space.
        case received(isEmpty: Bool, endsBlank: Bool)
        case failed
    }

    /// - Returns: the next phase, or `nil` to cancel completion.
    static func phase(
        after event: Event, in phase: CompletionState.Phase, continuesAfterEmpty: Bool
    ) -> CompletionState.Phase? {
        switch (phase, event) {
        case (_, .written): phase
        case (.results, .blankWritten(afterNothing: false)): .results
        case (_, .blankWritten): nil
        case (_, .received(isEmpty: false, _)): .results
        case (.awaiting, .received(isEmpty: true, _)): continuesAfterEmpty ? .noResults : nil
        case (.results, .received(_, let endsBlank)), (.noResults, .received(_, let endsBlank)):
            endsBlank ? nil : .noResults
        case (.results, .failed): .results
        case (_, .failed): .noResults
        }
    }
}

/// An open completion: its token, its last query and the results.
struct CompletionSession: Sendable {
    /// The delay before a loading row appears (HKW-49).
    static let loadingDelay = Duration.milliseconds(150)

    var token: CompletionToken
    /// Opened by code: ignores the minimum query length of the rule.
    var anyLength = false
    /// The host's policy hides the list (MIB-32).
    var isHeldBack = false
    private(set) var phase = CompletionState.Phase.awaiting
    private(set) var items: [CompletionEntity] = []
    private(set) var selected: Int?
    private var hasChosenRow = false
    /// The last issued query.
    private(set) var query: CompletionQuery?
    private var hasResponse = false
    private(set) var isFinal = false
    private(set) var hasFailed = false
    private(set) var failureReason: String?
    private(set) var isLoading = false
    private var loadingAt: Duration?
    /// Throttling: when the next query may be issued, and whether one is waiting (HKW-47).
    private var readyAt = Duration.zero
    private(set) var isQueryWaiting = false

    init(token: CompletionToken, anyLength: Bool = false) {
        self.token = token
        self.anyLength = anyLength
    }

    var isVisible: Bool {
        guard !isHeldBack else { return false }
        let hasRows = phase == .results && !items.isEmpty
        return token.kind == .implicit ? hasRows : hasRows || isLoading || hasFailed
    }

    /// The identifier of the query without a final response yet.
    var openQueryID: String? { isFinal ? nil : query?.id }

    // MARK: Queries

    var deadline: Duration? {
        let loading = isFinal || isLoading ? nil : loadingAt
        return [loading, isQueryWaiting ? readyAt : nil].compactMap { $0 }.min()
    }

    /// Whether to issue a query for the current text now. Records in ``isQueryWaiting`` whether one is needed at all.
    mutating func needsQuery(at now: Duration) -> Bool {
        isQueryWaiting = query?.text != token.query || query?.prefix != token.rule.prefix
        return isQueryWaiting && readyAt <= now
    }

    mutating func issue(_ query: CompletionQuery, at now: Duration, throttle: Duration) {
        if self.query == nil || isFinal { loadingAt = now + Self.loadingDelay }
        self.query = query
        isQueryWaiting = false
        readyAt = now + throttle
        hasResponse = false
        isFinal = false
        hasFailed = false
        failureReason = nil
    }

    /// Resets a failure, so that the next query is issued again.
    ///
    /// - Returns: whether there was a failure.
    mutating func forgetFailure() -> Bool {
        guard hasFailed else { return false }
        query = nil
        phase = items.isEmpty ? .awaiting : .results
        return true
    }

    /// - Returns: whether the loading row appeared.
    mutating func showLoading(at now: Duration) -> Bool {
        guard !isFinal, !isLoading, let loadingAt, loadingAt <= now else { return false }
        isLoading = true
        return true
    }

    /// Whether the rows are the results of an earlier query than the current text.
    var isStale: Bool { isQueryWaiting || !hasResponse }

    /// The row that Return accepts: the one that the user selected. While the rows are stale because the user types
    /// fast, the first that matches the current text, or `nil` if none does.
    var rowToAccept: Int? {
        guard isStale, !hasChosenRow else { return selected ?? 0 }
        return items.firstIndex { CompletionTier.meets(token.query, $0.name) }
    }

    // MARK: Results

    /// Adds a batch: the first one of a query replaces the rows, later ones are appended. Preserves the selected
    /// entity (HKW-46, HKW-48).
    ///
    /// - Returns: whether completion stays open.
    mutating func receive(_ batch: [CompletionEntity], isFinal: Bool, continuesAfterEmpty: Bool) -> Bool {
        let selectedID = selected.map { items[$0].id }
        if !hasResponse {
            hasResponse = true
            items = []
        }
        var seenIDs = Set(items.map(\.id))
        items += batch.filter { !$0.id.isEmpty && !$0.name.isEmpty && seenIDs.insert($0.id).inserted }
        selectAgain(selectedID)
        self.isFinal = isFinal
        if isFinal { isLoading = false }
        guard isFinal || !items.isEmpty else { return true }
        let event = CreationRule.Event.received(isEmpty: items.isEmpty, endsBlank: query?.text.last?.isBlank ?? false)
        return enter(event, continuesAfterEmpty: continuesAfterEmpty)
    }

    /// Handles a failure of the provider: keeps earlier rows and shows a row with the error.
    ///
    /// - Returns: whether completion stays open.
    mutating func fail(because reason: String?) -> Bool {
        failureReason = reason
        if !hasResponse { items = [] }
        selectAgain(nil)
        isFinal = true
        hasFailed = true
        isLoading = false
        if items.isEmpty { phase = .noResults }
        return token.kind == .explicit || !items.isEmpty
    }

    /// - Returns: whether completion stays open.
    mutating func enter(_ event: CreationRule.Event, continuesAfterEmpty: Bool) -> Bool {
        guard let next = CreationRule.phase(after: event, in: phase, continuesAfterEmpty: continuesAfterEmpty) else {
            return false
        }
        phase = next
        return true
    }

    // MARK: Rows

    private mutating func selectAgain(_ id: String?) {
        if items.isEmpty {
            selected = nil
        } else if hasChosenRow, let id, let row = items.firstIndex(where: { $0.id == id }) {
            selected = row
        } else {
            hasChosenRow = false
            selected = token.kind == .explicit ? 0 : nil
        }
    }

    /// - Returns: whether the row exists.
    mutating func select(_ row: Int) -> Bool {
        guard items.indices.contains(row) else { return false }
        selected = row
        hasChosenRow = true
        return true
    }
}
