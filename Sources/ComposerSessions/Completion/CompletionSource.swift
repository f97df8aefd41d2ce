public import Composer

/// Answers the completion queries for a prefix. Applications can add their own sources
/// (``ComposerSession/completionSources``).
public nonisolated protocol CompletionSource: Sendable {
    /// The prefix of the rule it serves; empty for implicit queries.
    var prefix: String { get }
    /// Returns the matches in batches, best first. Rows are shown in this order; duplicate identifiers are dropped.
    ///
    /// Called on the main actor for each query: return immediately and do the work elsewhere. A stale query's stream is
    /// dropped, which triggers its `onTermination`. An error is shown below the rows received so far, with a retry
    /// button; the text is that of a ``CompletionFailure``.
    @MainActor func batches(for query: CompletionQuery) -> AsyncThrowingStream<[CompletionEntity], any Error>
    /// The user accepted this entity, which may be ranked first from now on.
    @MainActor func accepted(_ entity: CompletionEntity)
    /// Prepares for a query that may follow, so that the first results appear immediately (HKW-50). Called once, if the
    /// host enables prefetching. Must return immediately.
    @MainActor func prefetch()
}

extension CompletionSource {
    @MainActor public func accepted(_ entity: CompletionEntity) {}
    @MainActor public func prefetch() {}
}

/// Why a source failed, as a localized text.
public nonisolated struct CompletionFailure: Error, Equatable, Sendable {
    /// A sentence in the language of the user.
    public var reason: String

    public init(reason: String) {
        self.reason = reason
    }
}
