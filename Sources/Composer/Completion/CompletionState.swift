/// The state of completion, complete for drawing its list.
public struct CompletionState: Hashable, Sendable {
    public enum Phase: String, Hashable, Sendable, CaseIterable {
        /// No results yet.
        case awaiting
        case results
        /// The last query had no results.
        case noResults
    }

    public var prefix: String
    /// The text after the prefix.
    public var query: String
    /// The range of the token, including its prefix; acceptance replaces it.
    public var range: TextRange
    public var kind: CompletionKind
    public var phase: Phase
    public var items: [CompletionEntity]
    /// The identifier of the query without a final response yet.
    public var openQuery: String?
    /// The row that Return accepts; `nil` without rows, and in an implicit list until the user navigates into it.
    public var selected: Int?
    /// Whether to show a loading row, as the response is taking long (HKW-49).
    public var isLoading: Bool
    /// Whether the provider failed; a row shows the error and offers ``ComposerEvent/retryCompletion``.
    public var hasFailed: Bool
    /// The provider's error message for the user, or `nil` if it gave none.
    public var failureReason: String?
    /// Whether to show the list: it has results, or a loading or error row.
    public var isVisible: Bool
    /// The maximum number of visible rows; the list scrolls beyond.
    public var visibleRows: Int
}

/// A movement of the selection in a list.
public enum CompletionMove: Hashable, Sendable, CaseIterable {
    case next, previous, first, last, nextPage, previousPage

    /// Returns the row to select, starting from `row`.
    ///
    /// Single steps wrap around; pages stop at the ends.
    func row(from row: Int?, count: Int, page: Int) -> Int? {
        guard count > 0 else { return nil }
        let page = max(page, 1)
        switch self {
        case .next: return row.map { ($0 + 1) % count } ?? 0
        case .previous: return row.map { ($0 + count - 1) % count } ?? count - 1
        case .first: return 0
        case .last: return count - 1
        case .nextPage: return min((row ?? -1) + page, count - 1)
        case .previousPage: return max((row ?? 0) - page, 0)
        }
    }
}
