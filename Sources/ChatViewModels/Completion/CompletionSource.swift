public import Composer

/// Answers the completion queries of one prefix. An application brings its own sources beside those that ship
/// (``ComposerViewModel/completionSources``).
public nonisolated protocol CompletionSource: Sendable {
    /// The prefix of the rule that it answers for; empty for implicit queries.
    var prefix: String { get }
    /// The matches, the best first, in as many batches as it takes. Rows are shown in the order in which they come,
    /// each identifier once.
    ///
    /// Called on the main actor for each query: it must return at once and do its work elsewhere. When the query has
    /// become stale the stream is dropped, which its `onTermination` tells. An error that is thrown is shown in the
    /// list, below what had come, with a way to try again: a ``CompletionFailure`` in its own words.
    @MainActor func batches(for query: CompletionQuery) -> AsyncThrowingStream<[CompletionEntity], any Error>
    /// The user took this entity: it may come first from now on.
    @MainActor func accepted(_ entity: CompletionEntity)
    /// The user may ask soon: what takes time can be fetched now, so that the first answer comes at once (HKW-50). Called
    /// once, where the host wants that; nothing is shown for it. Must return at once.
    @MainActor func prefetch()
}

extension CompletionSource {
    @MainActor public func accepted(_ entity: CompletionEntity) {}
    @MainActor public func prefetch() {}
}

/// Why a source could not answer, in words for the user.
public nonisolated struct CompletionFailure: Error, Equatable, Sendable {
    public var reason: String

    public init(reason: String) {
        self.reason = reason
    }
}
