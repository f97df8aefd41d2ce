/// What completion shows: all that a list of rows needs.
public struct CompletionState: Hashable, Sendable {
    public enum Phase: String, Hashable, Sendable, CaseIterable {
        /// Nothing was answered yet.
        case awaiting
        case results
        /// The last query met nothing.
        case noResults
    }

    public var prefix: String
    /// What stands behind the prefix, without it.
    public var query: String
    /// The whole token, prefix included: what acceptance replaces.
    public var range: TextRange
    public var kind: CompletionKind
    public var phase: Phase
    public var items: [CompletionEntity]
    /// The query that a provider has not answered in full.
    public var openQuery: String?
    /// The row that Return accepts; nil if there is none, or the user has not gone into an implicit list yet.
    public var selected: Int?
    /// The answer has been coming for so long that a row says so (HKW-49).
    public var isLoading: Bool
    /// The provider failed; a row says so and offers ``ComposerEvent/retryCompletion``.
    public var hasFailed: Bool
    /// Why it failed, in words for the user, if the provider said.
    public var failureReason: String?
    /// Whether there is anything to show: rows, or one that tells of loading or failure.
    public var isVisible: Bool
    /// How many rows are shown at once; the others scroll.
    public var visibleRows: Int
}

/// A way through the rows of a list.
public enum CompletionMove: Hashable, Sendable, CaseIterable {
    case next, previous, first, last, nextPage, previousPage

    /// The row to go to from another.
    ///
    /// Single steps go round; pages stop at the ends.
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
