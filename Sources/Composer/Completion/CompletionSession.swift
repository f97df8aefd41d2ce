/// What becomes of a completion that is open when something happens to it: HKW-42 as a table. What the caret or
/// a deletion does beyond it follows from whether there still is a token.
enum CreationRule {
    enum Event: Hashable {
        case written
        /// White space was written; whether nothing stood before it.
        case blankWritten(afterNothing: Bool)
        /// The final answer has come; whether it met nothing, and whether the query ended with white space.
        case received(isEmpty: Bool, endsBlank: Bool)
        case failed
    }

    /// - Returns: the phase then; nil if completion is cancelled.
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

/// A completion that is open: its token, the query that was last issued and what has come of it.
struct CompletionSession: Sendable {
    /// A row says that the answer is still coming after so long (HKW-49).
    static let loadingDelay = Duration.milliseconds(150)

    var token: CompletionToken
    /// Opened by code: the rule's least length does not count.
    var anyLength = false
    /// The host does not want it shown (MIB-32).
    var isHeldBack = false
    private(set) var phase = CompletionState.Phase.awaiting
    private(set) var items: [CompletionEntity] = []
    private(set) var selected: Int?
    private var hasChosenRow = false
    /// The query that was issued last.
    private(set) var query: CompletionQuery?
    private var hasResponse = false
    private(set) var isFinal = false
    private(set) var hasFailed = false
    private(set) var failureReason: String?
    private(set) var isLoading = false
    private var loadingAt: Duration?
    /// When the next query may be issued, and whether one waits for that (HKW-47).
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

    /// The identifier of the query that is not answered in full.
    var openQueryID: String? { isFinal ? nil : query?.id }

    // MARK: Queries

    var deadline: Duration? {
        let loading = isFinal || isLoading ? nil : loadingAt
        return [loading, isQueryWaiting ? readyAt : nil].compactMap { $0 }.min()
    }

    /// Whether what is written now must be asked, and may be at once; else it waits for its turn.
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

    /// - Returns: whether there is a failure to try again after; then the query is asked as if anew.
    mutating func forgetFailure() -> Bool {
        guard hasFailed else { return false }
        query = nil
        phase = items.isEmpty ? .awaiting : .results
        return true
    }

    /// - Returns: whether the row that tells of loading has come.
    mutating func showLoading(at now: Duration) -> Bool {
        guard !isFinal, !isLoading, let loadingAt, loadingAt <= now else { return false }
        isLoading = true
        return true
    }

    /// Whether the rows answer an older query than what is written now.
    var isStale: Bool { isQueryWaiting || !hasResponse }

    /// What Return means: the row that the user went to. While rows of an older query stand there because somebody
    /// types fast, the first that fits what is written; nil if none does.
    var rowToAccept: Int? {
        guard isStale, !hasChosenRow else { return selected ?? 0 }
        return items.firstIndex { CompletionTier.meets(token.query, $0.name) }
    }

    // MARK: Answers

    /// Takes a batch in: the first one of a query replaces the rows, later ones are appended; a selected row stays
    /// the same entity (HKW-46, HKW-48).
    ///
    /// - Returns: whether completion goes on.
    mutating func receive(_ batch: [CompletionEntity], isFinal: Bool, continuesAfterEmpty: Bool) -> Bool {
        let selectedID = selected.map { items[$0].id }
        if !hasResponse, !batch.isEmpty || isFinal {
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

    /// The provider failed: what it had answered stays, and a row tells of it.
    ///
    /// - Returns: whether completion goes on.
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

    /// - Returns: whether completion goes on.
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

    /// - Returns: whether there is such a row.
    mutating func select(_ row: Int) -> Bool {
        guard items.indices.contains(row) else { return false }
        selected = row
        hasChosenRow = true
        return true
    }
}

/// All that the engine keeps for completion.
struct CompletionProgress: Sendable {
    /// A token that does not open again while the caret is in it.
    struct Closed: Sendable {
        var start: Int
        /// The query that met nothing: a longer one won't either. Nil if the user closed the list.
        var exhausted: String?
    }

    var session: CompletionSession?
    var detection = StartDetection()
    var closed: Closed?
    /// What was open when the focus went (HKW-63).
    var suspended: CompletionToken?
    private var issued = 0

    mutating func nextQueryID() -> String {
        issued += 1
        return "query-\(issued)"
    }

    /// Keeps all places true to the text.
    mutating func apply(_ edit: AppliedEdit) {
        suspended = nil
        detection.apply(edit)
        if let start = session?.token.start {
            if let moved = edit.moved(start) {
                session?.token.range.location = moved
            } else {
                session?.token.range = .caret(-1)
            }
        }
        if let start = closed?.start {
            if let moved = edit.moved(start) { closed?.start = moved } else { closed = nil }
        }
    }
}

extension TextEdit {
    /// Where what stood at an offset stands after the edit; nil if the edit took it away.
    fileprivate func moved(_ offset: Int) -> Int? {
        if range.end <= offset { return offset + replacement.utf16.count - range.length }
        return range.location > offset ? offset : nil
    }
}
